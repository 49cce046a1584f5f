/** The related records of a field: chosen in a list with a search. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../../api/collections.ts'
import { quoted } from '../../../api/records.ts'
import { listRecords } from '../../../state/device/records.ts'
import type { Row } from '../../../api/records.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Failed, Loading } from '../../../parts/loading.tsx'
import { findCollection, useCollections } from '../../../state/collections.ts'
import { useEnvironment } from '../../../environment.ts'
import { TEXTS } from '../../../texts.ts'
import { searchFilter, shownFields, titleField, titleOf } from '../../field-types.ts'
import { Cell } from '../cell.tsx'
import { isMany, kindOf } from '../../kinds.ts'
import type { FieldInputProps } from './draft.ts'

const { form: texts } = TEXTS.records
const FOUND_MAX = 30
const PREVIEW_FIELDS = 3
const TYPING_MS = 200

export function RelationInput({ field, value, onValue, control }: FieldInputProps): ReactNode {
  const { list } = useCollections()
  const [isOpen, setOpen] = useState(false)
  const target = findCollection(list, field.collectionId ?? '')
  const ids = value as readonly string[]
  const titles = useTitles(target, ids)
  const toggle = (id: string): void => {
    if (ids.includes(id)) return onValue(ids.filter((one) => one !== id))
    if (isMany(field)) return onValue([...ids, id])
    onValue([id])
    setOpen(false)
  }
  return (
    <div className="related">
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <span className="badge badge-relation" title={id}>
              <Icon name="relation" />
              {titles.get(id) ?? id}
            </span>
            <Button
              kind="quiet"
              icon="close"
              label={texts.removeRelated(titles.get(id) ?? id)}
              onPress={() => toggle(id)}
            />
          </li>
        ))}
      </ul>
      <Button {...control} icon="search" disabled={target === undefined} onPress={() => setOpen(true)}>
        {texts.choose(target?.name ?? field.name)}
      </Button>
      {isOpen && target !== undefined && (
        <Picker target={target} chosen={ids} onToggle={toggle} onClose={() => setOpen(false)} />
      )}
    </div>
  )
}

/** By id. */
function useTitles(target: Collection | undefined, ids: readonly string[]): ReadonlyMap<string, string> {
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map())
  const key = ids.join(',')
  useEffect(() => {
    const missing = key.split(',').filter((id) => id !== '')
    if (target === undefined || missing.length === 0) return
    const filter = missing.map((id) => `id = ${quoted(id)}`).join(' || ')
    listRecords(target.name, { page: 1, perPage: missing.length, filter, skipTotal: true }).then(
      ({ items }) =>
        setTitles(
          (known) => new Map([...known, ...items.map((row): [string, string] => [row.id, titleOf(target, row)])]),
        ),
      // The ids stand for them.
      () => undefined,
    )
  }, [target, key])
  return titles
}

interface PickerProps {
  readonly target: Collection
  readonly chosen: readonly string[]
  readonly onToggle: (id: string) => void
  readonly onClose: () => void
}

interface SearchResult {
  readonly rows?: readonly Row[]
  readonly error?: unknown
}

function Picker({ target, chosen, onToggle, onClose }: PickerProps): ReactNode {
  const environment = useEnvironment()
  const { list } = useCollections()
  const [search, setSearch] = useState('')
  const [found, setFound] = useState<SearchResult>({})
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const query = { page: 1, perPage: FOUND_MAX, filter: searchFilter(target, search.trim()), skipTotal: true }
    const ask = (): void => {
      listRecords(target.name, query, controller.signal).then(
        ({ items }) => setFound({ rows: items }),
        (error: unknown) => {
          if (!controller.signal.aborted) setFound({ error })
        },
      )
    }
    const cancel = environment.after(search === '' ? 0 : TYPING_MS, ask)
    return () => {
      cancel()
      controller.abort()
    }
  }, [environment, target, search, tries])
  const title = titleField(target)
  // Of links there would be one in a button.
  const preview = shownFields(target)
    .filter((field) => field !== title && field.primaryKey !== true && !field.hidden && kindOf(field).cell !== 'link')
    .slice(0, PREVIEW_FIELDS)
  return (
    <Dialog
      title={texts.choose(target.name)}
      onClose={onClose}
      footer={
        <Button kind="primary" onPress={onClose}>
          {texts.chosen}
        </Button>
      }
    >
      <input
        type="search"
        className="input"
        autoFocus
        aria-label={texts.search}
        placeholder={texts.search}
        value={search}
        onChange={({ target: input }) => setSearch(input.value)}
      />
      {found.error !== undefined && <Failed error={found.error} onRetry={() => setTries(tries + 1)} />}
      {found.rows === undefined && found.error === undefined && <Loading />}
      {found.rows?.length === 0 && <p className="dialog-text picker-none">{TEXTS.records.noMatch}</p>}
      <ul className="picker">
        {found.rows?.map((row) => (
          <li key={row.id}>
            <button type="button" aria-pressed={chosen.includes(row.id)} onClick={() => onToggle(row.id)}>
              <Icon name={chosen.includes(row.id) ? 'check' : 'add'} />
              <span className="picker-text">
                <b>{titleOf(target, row)}</b>
                <span className="picker-more">
                  {preview.map((field) => (
                    <Cell key={field.id} collection={target} field={field} row={row} all={list} />
                  ))}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
