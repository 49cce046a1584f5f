/** The revisions of a document: the current one beside a conflict, or beside what it has replaced. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { deleteDocument, readRevision, readRevisions, saveDocument } from '../../api/couchdb.ts'
import type { Document, Revisions } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { compareLines } from './compare-lines.ts'

const { couchdb: texts } = OPERATIONS

interface RevisionsDialogProps {
  readonly database: string
  readonly id: string
  readonly onClose: () => void
}

export function RevisionsDialog({ database, id, onClose }: RevisionsDialogProps): ReactNode {
  const { value, error, reload } = useLoaded(`${database} ${id}`, (signal) => readRevisions(database, id, signal))
  const [chosen, setChosen] = useState<string>()
  const others = value === undefined ? [] : othersOf(value)
  const rev = others.find((other) => other === chosen) ?? others[0]
  return (
    <Dialog
      title={texts.revisionsTitle}
      subtitle={<code className="cell-id">{id}</code>}
      place="side"
      onClose={onClose}
    >
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value !== undefined && rev === undefined && (
        <Notice icon="check" title={texts.noOther} text={texts.noOtherText} />
      )}
      {value !== undefined && rev !== undefined && (
        <div className="form">
          <FormField label={texts.compareWith}>
            {(control) => (
              <select {...control} className="input" value={rev} onChange={({ target }) => setChosen(target.value)}>
                {others.map((other) => (
                  <option key={other} value={other}>
                    {value.conflicts.includes(other) ? texts.conflictRev(other) : texts.oldRev(other)}
                  </option>
                ))}
              </select>
            )}
          </FormField>
          <Comparison database={database} revisions={value} rev={rev} onChanged={reload} />
        </div>
      )}
    </Dialog>
  )
}

/** Conflicts first, then what is kept of the history. */
function othersOf({ document, conflicts, history }: Revisions): readonly string[] {
  const kept = history.filter(({ rev, status }) => status === 'available' && rev !== document._rev)
  return [...conflicts, ...kept.map(({ rev }) => rev)]
}

interface ComparisonProps {
  readonly database: string
  readonly revisions: Revisions
  readonly rev: string
  readonly onChanged: () => Promise<void>
}

function Comparison({ database, revisions: { document, conflicts }, rev, onChanged }: ComparisonProps): ReactNode {
  const { _id: id } = document
  const { value: other, error, reload } = useLoaded(`${id} ${rev}`, (signal) => readRevision(database, id, rev, signal))
  if (other?._rev !== rev) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  const isConflict = conflicts.includes(rev)
  const take = async (): Promise<void> => {
    await saveDocument(database, { ...other, _rev: document._rev })
    if (isConflict) await deleteDocument(database, other)
    showDone(texts.taken)
    await onChanged()
  }
  const remove = async (): Promise<void> => {
    await deleteDocument(database, other)
    showDone(texts.conflictDeleted)
    await onChanged()
  }
  return (
    <>
      <Compared one={document} other={other} />
      <div className="form-foot">
        <Button onPress={take}>{texts.takeOther}</Button>
        {isConflict && (
          <Button kind="danger" icon="trash" onPress={remove}>
            {texts.deleteConflict}
          </Button>
        )}
      </div>
    </>
  )
}

function Compared({ one, other }: { readonly one: Document; readonly other: Document }): ReactNode {
  const pairs = compareLines(linesOf(one), linesOf(other))
  return (
    <div className="data-box" role="region" aria-label={texts.revisionsTitle} tabIndex={0}>
      <table className="compared">
        <thead>
          <tr>
            <th scope="col">
              {texts.current} {one._rev}
            </th>
            <th scope="col">
              {texts.other} {other._rev}
            </th>
          </tr>
        </thead>
        <tbody>
          {pairs.map(([left, right], at) => (
            <tr key={at}>
              <td className={left === right ? '' : left === undefined ? '' : 'removed'}>
                {left === undefined || left === right ? left : <del>{left}</del>}
              </td>
              <td className={left === right ? '' : right === undefined ? '' : 'added'}>
                {right === undefined || left === right ? right : <ins>{right}</ins>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Keys in one order, so that the same content has the same lines. */
function linesOf({ _rev, ...content }: Document): readonly string[] {
  const names = Object.keys(content).sort()
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, content[name]])), undefined, 2).split('\n')
}
