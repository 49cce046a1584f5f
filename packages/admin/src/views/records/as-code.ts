/** Code of an app or a shell that asks for the same list: for people who copy it. No token is in it. */
import type { Collection } from '../../api/collections.ts'
import { apiUrl } from '../../api/request.ts'

interface CopiedList {
  readonly filter: string
  readonly sort: string
}

export function recordAsSdk({ name }: Collection, id: string): string {
  return `${sdkOf(name)}.getOne(${JSON.stringify(id)})`
}

export function recordAsCurl(collection: Collection, id: string): string {
  return curlOf(apiUrl(`${pathOf(collection)}/${encodeURIComponent(id)}`))
}

export function listAsSdk({ name }: Collection, { filter, sort }: CopiedList): string {
  const options = { ...(filter !== '' && { filter }), ...(sort !== '' && { sort }) }
  return `${sdkOf(name)}.getList(1, 50, ${JSON.stringify(options)})`
}

export function listAsCurl(collection: Collection, { filter, sort }: CopiedList): string {
  return curlOf(apiUrl(pathOf(collection), { page: 1, perPage: 50, filter, sort }))
}

function pathOf({ name }: Collection): string {
  return `/collections/${encodeURIComponent(name)}/records`
}

function sdkOf(name: string): string {
  const server = new URL('..', document.baseURI).href.replace(/\/$/, '')
  return `const pb = new PocketBase(${JSON.stringify(server)})\nawait pb.collection(${JSON.stringify(name)})`
}

function curlOf(url: string): string {
  return `curl -H "Authorization: $TOKEN" '${url.replaceAll("'", '%27')}'`
}
