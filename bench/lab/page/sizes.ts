/**
 * Sizes of textures, which a part of the chart library writes as text: `width * 1.0 / 2`, or two of them in brackets. It would
 * compile them with `Function`, which the policy of the page forbids; the bundle calls this instead (node/assets.ts).
 */
type Size = (width: number, height: number, dpr: number) => number | number[]

export function compileSizes(text: string): Size {
  const pair = /^\s*\[(.*)\]\s*$/.exec(text)
  if (pair === null) return compileProduct(text)
  const parts = pair[1]!.split(',').map(compileProduct)
  return (width, height, dpr) => parts.map((part) => part(width, height, dpr))
}

function compileProduct(text: string): (width: number, height: number, dpr: number) => number {
  const [first = '', ...rest] = text.split(/([*/])/).map((part) => part.trim())
  for (const part of [first, ...rest.filter((_, at) => at % 2 === 1)]) {
    if (!/^(?:width|height|dpr|[\d.]+)$/.test(part)) throw new TypeError(`${text} is not a product of sizes`)
  }
  return (width, height, dpr) => {
    const valueOf = (part: string): number => ({ width, height, dpr })[part] ?? Number(part)
    let value = valueOf(first)
    for (let at = 0; at < rest.length; at += 2) {
      const next = valueOf(rest[at + 1]!)
      value = rest[at] === '*' ? value * next : value / next
    }
    return value
  }
}
