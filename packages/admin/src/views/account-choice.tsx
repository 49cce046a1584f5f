/** Chooses whose eyes a rule is seen with: a guest, or an account that is searched for. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { listRecords } from '../../api/records.ts'
import type { Row } from '../../api/records.ts'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { useCollections } from '../../state/collections.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { searchFilter, titleOf } from '../field-types.ts'

const { who: texts } = TEXTS
const TYPING_MS = 200
const FOUND_MAX = 6

export interface ChosenAccount {
  /** The name of its collection. */
  readonly collection: string
  readonly row: Row
}

interface AccountChoiceProps {
  readonly chosen: ChosenAccount | undefined
  readonly onChoose: (account: ChosenAccount | undefined) => void
}

export function AccountChoice({ chosen, onChoose }: AccountChoiceProps): ReactNode {
  const { list } = useCollections()
  const [collection, setCollection] = useState(chosen?.collection ?? '')
  const kinds = list.filter(({ type }) => type === 'auth')
  return (
    <div className="who-account">
      <FormField label={texts.as}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={collection}
            onChange={({ target }) => {
              setCollection(target.value)
              onChoose(undefined)
            }}
          >
            <option value="">{texts.guest}</option>
            {kinds.map(({ id, name }) => (
              <option key={id} value={name}>
                {texts.accountOf(name)}
              </option>
            ))}
          </select>
        )}
      </FormField>
      {collection !== '' && (
        <Found collection={collection} chosen={chosen} onChoose={(row) => onChoose({ collection, row })} />
      )}
    </div>
  )
}

interface FoundProps {
  readonly collection: string
  readonly chosen: ChosenAccount | undefined
  readonly onChoose: (row: Row) => void
}

function Found({ collection: name, chosen, onChoose }: FoundProps): ReactNode {
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
    const timer = setTimeout(ask, search === '' ? 0 : TYPING_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [collection, name, search])
  return (
    <>
      <TextInput label={texts.searchAccount} type="search" value={search} onValue={setSearch} />
      <div className="who-found" role="group" aria-label={texts.accounts}>
        {rows?.map((row) => (
          <button
            key={row.id}
            type="button"
            className="button"
            aria-pressed={chosen?.row.id === row.id}
            onClick={() => onChoose(row)}
          >
            {titleOf(collection, row)}
          </button>
        ))}
        {rows?.length === 0 && <p>{texts.noAccount}</p>}
      </div>
      {chosen === undefined && <p className="field-help">{texts.stillGuest}</p>}
    </>
  )
}
