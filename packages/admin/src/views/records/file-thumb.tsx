/** A file of a record: a picture as a small one, anything else by its name. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection, Field } from '../../api/collections.ts'
import { fileToken, fileUrl } from '../../api/files.ts'
import { Icon } from '../../parts/icon.tsx'

interface FileThumbProps {
  readonly collection: Collection
  readonly field: Field
  readonly record: string
  readonly name: string
}

const PICTURE = /\.(?:png|jpe?g|gif|webp|avif)$/i
const THUMB = '100x100'

export function FileThumb({ collection, field, record, name }: FileThumbProps): ReactNode {
  const token = useFileToken(field.protected === true)
  const [isBroken, setBroken] = useState(false)
  if (!PICTURE.test(name) || isBroken)
    return (
      <span className="badge" title={name}>
        <Icon name="file" /> {name}
      </span>
    )
  if (token === undefined) return <span className="thumb" />
  const src = fileUrl(collection.id, record, name, { thumb: THUMB, token })
  return <img className="thumb" src={src} alt={name} title={name} loading="lazy" onError={() => setBroken(true)} />
}

/** The empty text for files that need none. Undefined until there is one. */
export function useFileToken(isProtected: boolean): string | undefined {
  const [token, setToken] = useState(isProtected ? undefined : '')
  useEffect(() => {
    if (isProtected) fileToken().then(setToken, () => undefined)
  }, [isProtected])
  return token
}
