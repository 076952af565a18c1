// Templates, virtual and member functions, lambdas, exceptions.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace geometry {

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

template <typename Number>
class Box : public Shape {
public:
    Box(Number width, Number height) : width_(width), height_(height) {
        if (width < 0)
            throw std::invalid_argument("width");
    }
    double area() const override;

private:
    Number width_, height_;
};

template <typename Number>
double Box<Number>::area() const {
    return static_cast<double>(width_) * height_;
}

namespace {
double total(const std::vector<std::unique_ptr<Shape>> &shapes) {
    return std::accumulate(shapes.begin(), shapes.end(), 0.0,
                           [](double sum, const std::unique_ptr<Shape> &shape) { return sum + shape->area(); });
}
}  // namespace

}  // namespace geometry

extern "C" int plain(int count) {
    std::vector<std::unique_ptr<geometry::Shape>> shapes;
    for (int i = 0; i < count; i++) {
        shapes.push_back(std::make_unique<geometry::Box<int>>(i, 2));
        shapes.push_back(std::make_unique<geometry::Box<double>>(i, 0.5));
    }
    std::sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) { return a->area() < b->area(); });
    return static_cast<int>(geometry::total(shapes));
}

int main(int argc, char **) {
    try {
        std::string text = std::to_string(plain(argc + 4));
        std::puts(text.c_str());
        geometry::Box<int> wrong(-argc, 1);
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
    }
}
