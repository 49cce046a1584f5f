/** A pair of lines of two texts beside each other. */

type Pair = readonly [one: string | undefined, other: string | undefined]

/** The table of a comparison has a number for each pair of lines. */
const LINES_MAX = 1500

/** Pairs of lines: both have it, it was changed, or one has a gap. The most lines that both have are paired. */
export function compareLines(ones: readonly string[], others: readonly string[]): readonly Pair[] {
  if (ones.length > LINES_MAX || others.length > LINES_MAX)
    return Array.from({ length: Math.max(ones.length, others.length) }, (_, at): Pair => [ones[at], others[at]])
  const common = commonLines(ones, others)
  const pairs: Pair[] = []
  let [at, otherAt] = [0, 0]
  while (at < ones.length || otherAt < others.length) {
    if (at < ones.length && otherAt < others.length && ones[at] === others[otherAt])
      pairs.push([ones[at++], others[otherAt++]])
    else if (otherAt >= others.length || (at < ones.length && common[at + 1]![otherAt]! >= common[at]![otherAt + 1]!))
      pairs.push([ones[at++], undefined])
    else pairs.push([undefined, others[otherAt++]])
  }
  return withChanged(pairs)
}

/** Between lines that both have, the first of the one stands beside the first of the other. */
function withChanged(pairs: readonly Pair[]): readonly Pair[] {
  const changed: Pair[] = []
  let [ones, others]: [string[], string[]] = [[], []]
  const flush = (): void => {
    for (let at = 0; at < Math.max(ones.length, others.length); at++) changed.push([ones[at], others[at]])
    ;[ones, others] = [[], []]
  }
  for (const [one, other] of pairs) {
    if (one === other) {
      flush()
      changed.push([one, other])
    } else if (one === undefined) others.push(other!)
    else ones.push(one)
  }
  flush()
  return changed
}

/** How many lines both have in the same order, from each place on. */
function commonLines(ones: readonly string[], others: readonly string[]): readonly Uint16Array[] {
  const common = Array.from({ length: ones.length + 1 }, () => new Uint16Array(others.length + 1))
  for (let at = ones.length - 1; at >= 0; at--)
    for (let otherAt = others.length - 1; otherAt >= 0; otherAt--)
      common[at]![otherAt] =
        ones[at] === others[otherAt]
          ? common[at + 1]![otherAt + 1]! + 1
          : Math.max(common[at + 1]![otherAt]!, common[at]![otherAt + 1]!)
  return common
}
