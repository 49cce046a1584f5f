/** Chooses an account: its collection, then one of those that a search finds. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { listRecords } from '../api/records.ts'
import type { Row } from '../api/records.ts'
import { FormField, TextInput } from '../parts/form-field.tsx'
import { useCollections } from '../state/collections.ts'
import { useEnvironment } from '../environment.ts'
import { TEXTS } from '../texts.ts'
import { searchFilter, titleOf } from './field-types.ts'

const { accountChoice: texts } = TEXTS
const TYPING_MS = 200
const FOUND_MAX = 6

export interface ChosenAccount {
  /** The name of its collection. */
  readonly collection: string
  readonly row: Row
}

interface AccountChoiceProps {
  /** The name of the choice of a collection. */
  readonly label: string
  /** The name of the choice without an account; if it is left out, an account must be chosen. */
  readonly guest?: string
  /** The name of the collection that is searched; '' with `guest`. */
  readonly collection: string
  /** Superusers are among those that may be chosen. */
  readonly hasSuperusers?: boolean
  readonly chosen: ChosenAccount | undefined
  readonly onChoose: (account: ChosenAccount | undefined, collection: string) => void
  readonly error?: string | undefined
}

export function AccountChoice({
  label,
  guest,
  collection,
  hasSuperusers = true,
  chosen,
  onChoose,
  error,
}: AccountChoiceProps): ReactNode {
  const { list } = useCollections()
  const kinds = list.filter(({ type, system }) => type === 'auth' && (hasSuperusers || !system))
  return (
    <div className="account-choice">
      <FormField label={label}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={collection}
            onChange={({ target }) => onChoose(undefined, target.value)}
          >
            {guest !== undefined && <option value="">{guest}</option>}
            {kinds.map(({ id, name }) => (
              <option key={id} value={name}>
                {texts.accountOf(name)}
              </option>
            ))}
          </select>
        )}
      </FormField>
      {collection !== '' && (
        <Found
          key={collection}
          collection={collection}
          chosen={chosen?.row}
          onChoose={(row) => onChoose({ collection, row }, collection)}
          error={error}
        />
      )}
      {collection !== '' && guest !== undefined && chosen === undefined && (
        <p className="field-help">{texts.stillGuest}</p>
      )}
    </div>
  )
}

interface FoundProps {
  readonly collection: string
  readonly chosen: Row | undefined
  readonly onChoose: (row: Row) => void
  readonly error: string | undefined
}

function Found({ collection: name, chosen, onChoose, error }: FoundProps): ReactNode {
  const environment = useEnvironment()
  const { list } = useCollections()
  const collection = list.find((one) => one.name === name)
  const [search, setSearch] = useState('')
  const [rows, setRows] = useState<readonly Row[]>()
  useEffect(() => {
    if (collection === undefined) return undefined
    const controller = new AbortController()
    const filter = searchFilter(collection, search.trim())
    const ask = (): void => {
      listRecords(name, { page: 1, perPage: FOUND_MAX, filter, skipTotal: true }, controller.signal).then(
        ({ items }) => setRows(items),
        () => undefined,
      )
    }
    const cancel = environment.after(search === '' ? 0 : TYPING_MS, ask)
    return () => {
      cancel()
      controller.abort()
    }
  }, [environment, collection, name, search])
  // The chosen one stays in sight, whatever is searched.
  const others = rows?.filter(({ id }) => id !== chosen?.id) ?? []
  const shown = chosen === undefined ? others : [chosen, ...others]
  return (
    <>
      <TextInput label={texts.search} type="search" value={search} onValue={setSearch} error={error} />
      <div className="account-found" role="group" aria-label={texts.found}>
        {shown.map((row) => (
          <button
            key={row.id}
            type="button"
            className="button"
            aria-pressed={chosen?.id === row.id}
            title={row.id}
            onClick={() => onChoose(row)}
          >
            {titleOf(collection, row)}
          </button>
        ))}
        {rows?.length === 0 && <p>{texts.none}</p>}
      </div>
    </>
  )
}
