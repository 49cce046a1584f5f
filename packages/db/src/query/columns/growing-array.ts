/** A typed array to which values are added at the end. */
type Numbers = Float64Array | Int32Array | Uint32Array | Uint8Array

export class GrowingArray<Values extends Numbers> {
  /** Values beyond `length` mean nothing. It is another one after each `push`. */
  values: Values
  length: number

  /** Takes the array of values. */
  constructor(values: Values) {
    this.values = values
    this.length = values.length
  }

  get bytes(): number {
    return this.values.byteLength
  }

  push(value: number): void {
    this.extend(this.length + 1)
    this.values[this.length - 1] = value
  }

  /** Values that are added are 0. */
  extend(length: number): void {
    if (length > this.values.length) {
      const grown = new (this.values.constructor as new (length: number) => Values)(Math.ceil(length * 1.25) + 16)
      grown.set(this.values.subarray(0, this.length))
      this.values = grown
    }
    this.length = Math.max(length, this.length)
  }
}

/** The position of a value among the first `count`, which ascend; else that of the first higher one. */
export function positionIn(values: Float64Array | Uint32Array, count: number, value: number): number {
  return positionBetween(values, 0, count, value)
}

/** As `positionIn`, from a position on that is not beyond it: fast where it is near. */
export function nextPosition(values: Float64Array, count: number, from: number, value: number): number {
  let step = 1
  let low = from
  while (low + step < count && values[low + step]! < value) {
    low += step
    step *= 2
  }
  return positionBetween(values, low, Math.min(low + step, count), value)
}

function positionBetween(values: Float64Array | Uint32Array, low: number, high: number, value: number): number {
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
