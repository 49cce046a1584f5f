/** Sizes of thumbs, in PocketBase's form: `70x50`, `70x50t`, `70x50b`, `70x50f`, `70x0`, `0x50`. */

/** The plan by which a thumb is cut and scaled. */
interface ThumbPlan {
  readonly width: number
  readonly height: number
  /** The part that stays of a picture of another shape. Undefined: nothing is cut off. */
  readonly cut: 'centre' | 'top' | 'bottom' | undefined
}

interface Extent {
  readonly width: number
  readonly height: number
}

const CUTS = { t: 'top', b: 'bottom', f: undefined, '': 'centre' } as const

/** Undefined for a text that is no size. */
export function thumbPlan(size: string, original: Extent): ThumbPlan | undefined {
  const [, across = '', down = '', form = ''] = /^(\d+)x(\d+)([tbf]?)$/.exec(size) ?? []
  const [width, height] = [Number(across), Number(down)]
  if (width === 0 && height === 0) return undefined
  if (width === 0 || height === 0) return { ...inProportion(width, height, original), cut: undefined }
  const cut = CUTS[form as keyof typeof CUTS]
  return cut === undefined ? { ...fitting(width, height, original), cut } : { width, height, cut }
}

/** The side that is 0 follows from the other one. */
function inProportion(width: number, height: number, original: Extent): Extent {
  if (width === 0) return { width: atLeastOne(Math.round((height * original.width) / original.height)), height }
  return { width, height: atLeastOne(Math.round((width * original.height) / original.width)) }
}

/** Inside the box, and never larger than the original. PocketBase cuts fractions off here, and rounds elsewhere. */
function fitting(width: number, height: number, original: Extent): Extent {
  if (original.width <= width && original.height <= height) return original
  const ratio = original.width / original.height
  const [across, down] =
    ratio > width / height ? [width, Math.trunc(width / ratio)] : [Math.trunc(height * ratio), height]
  return across === 0 || down === 0 ? inProportion(across, down, original) : { width: across, height: down }
}

function atLeastOne(pixels: number): number {
  return Math.max(1, pixels)
}
