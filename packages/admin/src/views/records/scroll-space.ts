/**
 * Where a list is scrolled to that may be higher than browsers let an element be: Firefox ends at 17.8 million pixels. Then the element is
 * lower than the list. A small step scrolls the list by as much, as with any list. A long one, of the scroll bar, leads to the same part of it.
 * Near an end of the one is an end of the other, at the same distance. What is seen is drawn `shift` pixels above its place in the list.
 */
export class ScrollSpace {
  private readonly heightMax: number
  /** Pixels of the list. */
  private all = 0
  /** Pixels that are seen at once. */
  private seen = 0
  /** The position of the list. */
  private at = 0
  /** The scroll position of the element. */
  private scrollTop = 0

  constructor(heightMax: number) {
    this.heightMax = heightMax
  }

  /** The height of the element. */
  get height(): number {
    return Math.min(this.all, this.heightMax)
  }

  /** The first pixel of the list that is seen. */
  get top(): number {
    return this.at
  }

  get bottom(): number {
    return this.at + this.seen
  }

  get shift(): number {
    return this.at - this.scrollTop
  }

  /** Gives where the element is to be scrolled to, as do all of these. */
  resize(all: number, seen: number): number {
    this.all = all
    this.seen = seen
    return this.move(this.at, this.scrollTop)
  }

  /** The element was scrolled. */
  scrolled(scrollTop: number): number {
    const step = scrollTop - this.scrollTop
    return this.move(this.isSmall(step) ? this.at + step : this.listPlace(scrollTop), scrollTop)
  }

  /** Shows the part of the list, if it is not seen. */
  show(from: number, to: number): number {
    const at = from < this.top ? from : to > this.bottom ? to - this.seen : this.at
    const step = at - this.at
    return this.move(at, this.isSmall(step) ? this.scrollTop + step : this.elementPlace(at))
  }

  /** A scroll bar of many more pixels than the screen moves by less only at its ends. */
  private isSmall(step: number): boolean {
    return Math.abs(step) < this.seen
  }

  private move(at: number, scrollTop: number): number {
    const [last, lastTop] = [this.all - this.seen, this.height - this.seen]
    this.at = Math.max(0, Math.min(at, last))
    const isEnd = (one: number, other: number): boolean =>
      Math.abs(Math.min(one, this.seen) - Math.min(other, this.seen)) < 1
    const isBeside = isEnd(this.at, scrollTop) && isEnd(last - this.at, lastTop - scrollTop)
    this.scrollTop = isBeside && this.all > this.heightMax ? scrollTop : this.elementPlace(this.at)
    return this.scrollTop
  }

  /** The ends are the same in both, so that small steps reach them; what is between is in proportion. */
  private elementPlace(at: number): number {
    return between(at, this.all - this.seen, this.height - this.seen, this.seen)
  }

  private listPlace(scrollTop: number): number {
    return between(scrollTop, this.height - this.seen, this.all - this.seen, this.seen)
  }
}

/** The place on a line of `to` for that on a line of `from`. Both ends have `end` pixels that are the same. */
function between(place: number, from: number, to: number, end: number): number {
  if (place <= end || from === to) return Math.max(0, place)
  if (place >= from - end) return to - (from - place)
  return end + ((place - end) * (to - 2 * end)) / (from - 2 * end)
}
