"""Jacobi's iteration on a square: each tile of cells is an object that exchanges its edges with its neighbours."""

import sys
import time

import numpy as np
from charm4py import Array, Chare, Future, Reducer, charm

from work import Counts, arguments, ran, report, sent, work

SIDES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}


class Tile(Chare):
    def __init__(self, tiles, cells, turns, unit, to):
        ran("Tile::__init__")
        self.turns, self.unit, self.to, self.turn = turns, unit, to, 0
        self.started = False
        at = self.thisIndex
        self.cells = np.zeros((cells + 2, cells + 2))
        if at[0] == 0:
            self.cells[0, :] = 1.0
        inside = lambda it: 0 <= it[0] < tiles and 0 <= it[1] < tiles
        ways = {side: (at[0] + by[0], at[1] + by[1]) for side, by in SIDES.items()}
        self.neighbours = {side: self.thisProxy[it] for side, it in ways.items() if inside(it)}
        self.edges = {}

    def start(self):
        ran("Tile::start")
        self.started = True
        self.exchange()

    def exchange(self):
        inner = self.cells[1:-1, 1:-1]
        edges = {"up": inner[0], "down": inner[-1], "left": inner[:, 0], "right": inner[:, -1]}
        for side, neighbour in self.neighbours.items():
            neighbour.edge(self.turn, BACK[side], np.ascontiguousarray(edges[side]))
        sent("Tile::edge", len(self.neighbours))
        self.step()

    def edge(self, turn, side, values):
        ran("Tile::edge")
        self.edges[turn, side] = values
        self.step()

    def step(self):
        """As soon as all edges of this turn are here; those of neighbours may come before the start."""
        if not self.started or self.turn == self.turns or any((self.turn, side) not in self.edges for side in self.neighbours):
            return
        rims = {"up": (0, slice(1, -1)), "down": (-1, slice(1, -1)), "left": (slice(1, -1), 0), "right": (slice(1, -1), -1)}
        for side in self.neighbours:
            self.cells[rims[side]] = self.edges.pop((self.turn, side))
        old = self.cells
        work(1, self.unit)
        self.cells = old.copy()
        self.cells[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        self.turn += 1
        if self.turn == self.turns:
            self.contribute(float(self.cells[1:-1, 1:-1].sum()), Reducer.gather, self.to)
        else:
            self.exchange()


def main(args):
    to = Future()
    tiles = Array(Tile, (given.tiles, given.tiles), args=[given.tiles, given.cells, given.turns, given.unit, to])
    charm.awaitCreation(tiles)
    begin = time.perf_counter()
    tiles.start()
    sent("Tile::start", given.tiles**2)
    sums = to.get()
    seconds = time.perf_counter() - begin
    report(given, seconds, "%.12e" % sum(sums))
    charm.exit()


given = arguments(
    "jacobi.py", tiles=(4, "tiles a side"), cells=(16, "cells a side of a tile"), turns=(10, "iterations")
)
sys.argv = sys.argv[:1]
charm.start(main)
