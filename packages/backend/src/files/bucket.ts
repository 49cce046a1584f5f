/** The bucket that the settings name. */
import type { Environment } from 'pannier/types'
import { invalid, ServiceError } from '../gateway/service-error.ts'
import type { Settings } from '../settings/settings.ts'
import type { SettingsValues } from '../settings/settings-values.ts'
import { BLANK, fieldError } from '../fields/field-errors.ts'
import type { FilePlace } from './file-place.ts'
import { S3Place } from './s3-place.ts'

type S3Settings = SettingsValues['s3']

export interface Bucket {
  /** The id of a bucket, which tells it from others. */
  readonly id: string
  readonly place: FilePlace
}

/** Gives the bucket of the files, and makes it again when the settings have changed. Undefined: files are attachments. */
export function bucketOf(settings: Settings, environment: Environment): () => Bucket | undefined {
  let made: { readonly of: S3Settings; readonly bucket: Bucket | undefined } | undefined
  return () => {
    const { s3 } = settings.values
    if (made?.of !== s3) {
      const bucket = s3.enabled ? { id: `${s3.endpoint}/${s3.bucket}`, place: new S3Place(s3, environment) } : undefined
      made = { of: s3, bucket }
    }
    return made.bucket
  }
}

const PLACES = ['storage', 'backups']
const FAILED = 'Failed to test the S3 filesystem.'

/** Writes, lists and deletes an object, as a superuser wants to see. @throws ServiceError INVALID with the reason */
export async function testBucket({ values }: Settings, environment: Environment, filesystem: unknown): Promise<void> {
  if (filesystem === undefined || filesystem === '') throw refused(BLANK)
  if (typeof filesystem !== 'string') throw invalid('An error occurred while loading the submitted data.')
  if (!PLACES.includes(filesystem)) throw refused(fieldError('validation_in_invalid', 'Must be a valid value.'))
  const s3 = filesystem === 'backups' ? values.backups.s3 : values.s3
  try {
    if (!s3.enabled) throw new Error('S3 storage filesystem is not enabled')
    const place = new S3Place(s3, environment)
    const prefix = `pb_settings_test_${environment.randomId()}/`
    await place.put(`${prefix}test.txt`, Buffer.from('test'), 'text/plain; charset=utf-8')
    let count = 0
    for await (const { key } of place.list(prefix)) {
      await place.delete(key)
      count++
    }
    if (count !== 1) throw new Error('the bucket does not list what was put into it')
  } catch (error) {
    throw new ServiceError('INVALID', `${FAILED} Raw error: \n${(error as Error).message}`, { cause: error })
  }
}

function refused(error: typeof BLANK): ServiceError {
  return new ServiceError('INVALID', FAILED, { data: { filesystem: error } })
}
