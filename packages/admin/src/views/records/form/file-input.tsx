/** Files of a record: those that are there, and new ones, chosen or dropped. */
import { useEffect, useState } from 'react'
import type { DragEvent, ReactNode } from 'react'
import { fileUrl } from '../../../api/files.ts'
import { Button } from '../../../parts/button.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { TEXTS } from '../../../texts.ts'
import { FileThumb, useFileToken } from '../file-thumb.tsx'
import { isMany } from '../../kinds.ts'
import type { FieldInputProps } from './draft.ts'

const { form: texts } = TEXTS.records

export function FileInput({ collection, field, record, value, onValue, control }: FieldInputProps): ReactNode {
  const [isOver, setOver] = useState(false)
  const token = useFileToken(field.protected === true)
  const items = value as readonly (string | File)[]
  const add = (files: Iterable<File>): void => {
    const added = [...files]
    if (added.length > 0) onValue(isMany(field) ? [...items, ...added] : added.slice(-1))
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    add(event.dataTransfer.files)
  }
  return (
    <div
      className={`files ${isOver ? 'files-over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <ul>
        {items.map((item, at) => {
          const name = typeof item === 'string' ? item : item.name
          return (
            // A file may be added twice.
            <li key={`${name} ${at}`}>
              {typeof item === 'string' ? (
                <FileThumb collection={collection} field={field} record={record ?? ''} name={item} />
              ) : (
                <NewFile file={item} />
              )}
              {typeof item === 'string' && token !== undefined ? (
                <a href={fileUrl(collection.id, record ?? '', item, { token, download: true })}>{name}</a>
              ) : (
                <span>{name}</span>
              )}
              <Button
                kind="quiet"
                icon="close"
                label={texts.removeFile(name)}
                onPress={() => onValue(items.filter((_item, other) => other !== at))}
              />
            </li>
          )
        })}
      </ul>
      <label className="files-add">
        <Icon name="upload" />
        <span>{texts.dropFile}</span>
        <input
          {...control}
          type="file"
          multiple={isMany(field)}
          accept={field.mimeTypes?.join(',')}
          onChange={({ target }) => {
            add(target.files ?? [])
            target.value = ''
          }}
        />
      </label>
    </div>
  )
}

function NewFile({ file }: { readonly file: File }): ReactNode {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!/^image\/(?:png|jpeg|gif|webp|avif)$/.test(file.type)) return undefined
    const made = URL.createObjectURL(file)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  return url === undefined ? <Icon name="file" /> : <img className="thumb" src={url} alt="" />
}
