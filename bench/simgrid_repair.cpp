// Machine repair in SimGrid: P actors, each N times sleeping and using one server under a semaphore. Prints uses and seconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    const int machines = argc > 1 ? std::atoi(argv[1]) : 64, repairs = argc > 2 ? std::atoi(argv[2]) : 200;
    auto *zone = sg4::create_full_zone("zone");
    auto *host = zone->create_host("host", "1Gf");
    zone->seal();
    auto mechanic = sg4::Semaphore::create(1);
    for (int machine = 0; machine < machines; machine++)
        sg4::Actor::create("machine", host, [mechanic, repairs] {
            for (int repair = 0; repair < repairs; repair++) {
                sg4::this_actor::sleep_for(997);
                mechanic->acquire();
                sg4::this_actor::sleep_for(2);
                mechanic->release();
            }
        });
    const auto begin = std::chrono::steady_clock::now();
    engine.run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%ld %.6f %.1f\n", static_cast<long>(machines) * repairs, seconds.count(), engine.get_clock());
}
