/** Goal: each row of a list can be scrolled to that is higher than a browser lets an element be. */
import { expect, test } from 'vitest'
import { seededRandom } from '../../db/testing/random.ts'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { ScrollSpace } from '../src/views/records/scroll-space.ts'

const ROW = 38
const SEEN = 700
const HEIGHT_MAX = 10_000_000
const MILLION = 1_000_000 * ROW

/** As a browser scrolls an element: not beyond its ends. */
class Element {
  readonly space = new ScrollSpace(HEIGHT_MAX)
  scrollTop = 0

  constructor(all: number) {
    this.scrollTop = this.space.resize(all, SEEN)
  }

  get last(): number {
    return this.space.height - SEEN
  }

  scrollTo(scrollTop: number): void {
    this.scrollTop = this.space.scrolled(Math.max(0, Math.min(scrollTop, this.last)))
  }

  show(row: number): void {
    this.scrollTop = this.space.show(row * ROW, (row + 1) * ROW)
  }
}

test('a list that fits is scrolled as it is', () => {
  const element = new Element(HEIGHT_MAX)
  for (const scrollTop of [5, 5_000_000, 5_000_100, 0, element.last]) {
    element.scrollTo(scrollTop)
    expect([element.space.top, element.scrollTop, element.space.shift]).toEqual([scrollTop, scrollTop, 0])
  }
})

test('the ends of an element are the ends of a list of a million rows', () => {
  const element = new Element(MILLION)
  element.scrollTo(element.last)
  expect(element.space.bottom).toBe(MILLION)
  element.scrollTo(element.last / 2)
  expect(element.space.top).toBeCloseTo((MILLION - SEEN) / 2, 3)
  element.scrollTo(0)
  expect(element.space.top).toBe(0)
})

test('small steps move a list of a million rows by as much, over all of it and to its ends', () => {
  const element = new Element(MILLION)
  element.show(999_990)
  for (let steps = 0; element.space.bottom < MILLION; steps++) {
    expect(steps).toBeLessThan(10)
    element.scrollTo(element.scrollTop + 100)
  }
  const start = element.space.top
  for (let step = 1; step <= 1000; step++) element.scrollTo(element.scrollTop - 100)
  expect(element.space.top).toBeCloseTo(start - 100_000, 3)
  element.show(1000)
  for (let step = 1; step <= 380; step++) element.scrollTo(element.scrollTop - 100)
  expect([element.space.top, element.scrollTop]).toEqual([0, 0])
})

test('after any steps the shown row is seen, and what is drawn is within the element', () => {
  for (const seed of seedsOf('model')) {
    const random = seededRandom(seed)
    const element = new Element(MILLION)
    for (let step = 0; step < 2000; step++) {
      const row = random.below(1_000_000)
      if (random.chance(0.3)) {
        element.show(row)
        expect(element.space.top).toBeLessThanOrEqual(row * ROW)
        expect(element.space.bottom).toBeGreaterThanOrEqual((row + 1) * ROW)
      } else if (random.chance(0.1)) element.scrollTo(random.below(element.last))
      else element.scrollTo(element.scrollTop + random.below(SEEN * 2) - SEEN)
      const { space, scrollTop } = element
      expect(scrollTop).toBeGreaterThanOrEqual(0)
      expect(scrollTop).toBeLessThanOrEqual(element.last)
      expect(space.top - space.shift).toBeCloseTo(scrollTop, 3)
      // However far the list can be scrolled by a screen, the element can.
      const ends = [space.top, MILLION - space.bottom].map((room) => Math.min(room, SEEN))
      const rooms = [scrollTop, element.last - scrollTop].map((room) => Math.min(room, SEEN))
      expect(Math.abs(ends[0]! - rooms[0]!) + Math.abs(ends[1]! - rooms[1]!)).toBeLessThan(2)
    }
  }
})

test('a list that becomes shorter or longer shows what it has', () => {
  const element = new Element(MILLION)
  element.scrollTo(element.last)
  element.scrollTop = element.space.resize(100 * ROW, SEEN)
  expect([element.space.bottom, element.space.shift]).toEqual([100 * ROW, 0])
  element.scrollTop = element.space.resize(MILLION, SEEN)
  expect(element.space.bottom).toBe(100 * ROW)
  element.scrollTo(0)
  expect(element.space.top).toBe(0)
  element.scrollTop = element.space.resize(0, SEEN)
  expect([element.space.top, element.scrollTop]).toEqual([0, 0])
})
