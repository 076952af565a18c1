// A producer that is late, with the threads of C++: `waits [balanced]`. Consumers wait for it with a condition, and then get a lock that the first of them holds.
// `met WAY THREAD SECONDS`.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

using Clock = std::chrono::steady_clock;

static std::mutex mutex, slow;
static std::condition_variable condition;
static bool ready;
static Clock::time_point given, freed;

static void work(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

static void say(const char* way, int thread, Clock::time_point from, Clock::time_point to)
{
    double seconds = std::chrono::duration<double>(to - from).count();
    std::printf("met %s %d %.9f\n", way, thread, seconds > 0 ? seconds : 0);
}

static void produce(bool late)
{
    work(late ? 90 : 0);
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
    given = Clock::now();
    condition.notify_all();
}

static void consume(int thread)
{
    work(20);
    std::unique_lock<std::mutex> lock(mutex);
    auto came = Clock::now();
    condition.wait(lock, [] { return ready; }); /* CONDITION */
    say("condition", thread, came, given);
}

static void hold(bool late)
{
    std::lock_guard<std::mutex> lock(slow);
    work(late ? 80 : 0);
    freed = Clock::now();
}

static void get()
{
    work(20);
    auto came = Clock::now();
    std::lock_guard<std::mutex> lock(slow); /* MUTEX */
    say("mutex", 4, came, freed);
}

int main(int argc, char**)
{
    bool late = argc < 2;
    std::thread producer(produce, late);
    work(2);
    std::thread consumer(consume, 2);
    work(2);
    std::thread holder(hold, late);
    work(2);
    std::thread getter(get);
    producer.join();
    consumer.join();
    holder.join();
    getter.join();
}
