/** The requests that a superuser's replica adds. The rest is the work of `@pannier/client`. */
import { request } from './request.ts'

/** @throws ApiError 400: no replica can have this part of the collection */
export async function checkPart(collection: string, filter: string): Promise<void> {
  await request('POST', '/sync/pull', {
    body: { collections: { [collection]: null }, filters: { [collection]: filter } },
  })
}
