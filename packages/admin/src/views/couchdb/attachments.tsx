/** The attachments of a document: fetched, added and deleted. Each change makes a revision, so what is typed is saved first. */
import { useRef } from 'react'
import type { ReactNode } from 'react'
import { attachmentsOf, deleteAttachment, readAttachment, saveAttachment } from '../../api/couchdb.ts'
import type { Document } from '../../api/couchdb.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { useDownload } from '../../parts/copy.ts'
import { confirm } from '../../state/question.ts'
import { bytesText } from '../../parts/figures.tsx'
import { OPERATIONS } from '../../texts/operations.ts'

const { attachments: texts } = OPERATIONS

interface AttachmentsProps {
  readonly database: string
  readonly document: Document
  /** The document has changes that are not saved. */
  readonly isChanged: boolean
  readonly onChanged: () => Promise<void>
}

export function Attachments({ database, document, isChanged, onChanged }: AttachmentsProps): ReactNode {
  const download = useDownload()
  const input = useRef<HTMLInputElement>(null)
  const { isBusy, run } = useBusy()
  const fetchOne = async (name: string): Promise<void> =>
    download(await readAttachment(database, document._id, name), name.slice(name.lastIndexOf('/') + 1))
  const remove = async (name: string): Promise<void> => {
    const question = { title: texts.delete(name), text: texts.deleteText, yes: texts.deleteYes, isDanger: true }
    if (!(await confirm(question))) return
    await deleteAttachment(database, document, name)
    await onChanged()
  }
  const add = async (file: File): Promise<void> => {
    await saveAttachment(database, document, file)
    await onChanged()
  }
  const all = attachmentsOf(document)
  return (
    <section className="attachments" aria-labelledby="attachments">
      <div className="part-actions">
        <h3 id="attachments">{texts.title}</h3>
        <Button icon="upload" disabled={isChanged || isBusy} aria-busy={isBusy} onPress={() => input.current?.click()}>
          {texts.add}
        </Button>
      </div>
      <label className="hidden-text">
        {texts.file}
        <input
          ref={input}
          type="file"
          tabIndex={-1}
          onChange={({ target }) => {
            const file = target.files?.[0]
            if (file !== undefined) void run(() => add(file))
            target.value = ''
          }}
        />
      </label>
      {isChanged && <p className="field-help">{texts.saveFirst}</p>}
      {all.length === 0 && <p className="muted">{texts.none}</p>}
      <ul>
        {all.map(([name, { content_type: type, length }]) => (
          <li key={name}>
            <Button kind="quiet" icon="download" onPress={() => fetchOne(name)}>
              {name}
            </Button>
            <span className="muted">
              {type}, {bytesText(length)}
            </span>
            <Button
              kind="quiet"
              icon="trash"
              label={texts.deleteOf(name)}
              disabled={isChanged}
              onPress={() => remove(name)}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
