/** Makes thumbs of pictures, with sharp. It is an optional dependency. */
import type { default as sharpModule, Sharp } from 'sharp'
import { typeOf } from '../fields/file-types.ts'
import { thumbPlan } from './thumb-size.ts'

/** A picture in one of the formats of thumbs. */
interface Thumb {
  readonly bytes: Uint8Array
  readonly type: string
}

/** Types of pictures that have thumbs. */
export const PICTURE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** A picture and its thumb have at most these: a few bytes of a file may stand for gigabytes of pixels. */
const PIXELS_MAX: number = 64 * 1024 * 1024
/** The largest file that is read for a thumb. */
export const PICTURE_BYTES_MAX: number = 64 * 1024 * 1024
/** The quality of JPEG, as PocketBase's. */
const JPEG_QUALITY = 95

type SharpModule = typeof sharpModule

let loading: Promise<SharpModule | undefined> | undefined

/** Undefined if sharp is not installed. */
function loadSharp(): Promise<SharpModule | undefined> {
  return (loading ??= import('sharp').then((loaded) => loaded.default).catch(() => undefined))
}

/** Why there is no thumb. */
export class NoThumb extends Error {}

/** There are no thumbs at all. */
export class NoSharp extends NoThumb {}

/** The first picture of several, upright. @throws NoThumb */
export async function makeThumb(original: Uint8Array, size: string): Promise<Thumb> {
  const sharp = await loadSharp()
  if (sharp === undefined) throw new NoSharp('sharp is not installed: run `npm install sharp` and start again.')
  // The type that it was stored with may be wrong. Other formats have loaders that read more than pixels.
  const type = typeOf(original)
  if (!PICTURE_TYPES.includes(type)) throw new NoThumb(`The content is ${type}, which has no thumbs.`)
  try {
    const options = { limitInputPixels: PIXELS_MAX, failOn: 'error', sequentialRead: true } as const
    const { autoOrient: upright } = await sharp(original, options).metadata()
    const plan = thumbPlan(size, upright)
    if (plan === undefined) throw new NoThumb(`${size} is no size of a thumb.`)
    const { width, height, cut } = plan
    if (width * height > PIXELS_MAX) throw new NoThumb(`A thumb of ${width} x ${height} is too large.`)
    const image = sharp(original, options)
      .autoOrient()
      .resize(width, height, {
        kernel: 'linear',
        ...(cut === undefined ? { fit: 'fill' } : { fit: 'cover', position: cut }),
      })
    return await encoded(image, type)
  } catch (error) {
    throw error instanceof NoThumb ? error : new NoThumb((error as Error).message, { cause: error })
  }
}

async function encoded(image: Sharp, type: string): Promise<Thumb> {
  if (type === 'image/jpeg') return { bytes: await image.jpeg({ quality: JPEG_QUALITY }).toBuffer(), type }
  if (type === 'image/gif') return { bytes: await image.gif().toBuffer(), type }
  return { bytes: await image.png().toBuffer(), type: 'image/png' }
}
