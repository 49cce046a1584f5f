/** Chooses an account: its address or its id is typed, with those that fit offered. */
import { useId } from 'react'
import type { ReactNode } from 'react'
import { findAccounts } from '../../api/access.ts'
import { FormField } from '../../parts/form-field.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { quoted } from '../../api/records.ts'

const { access: texts } = OPERATIONS

interface AccountInputProps {
  readonly collection: string
  /** The address or the id. */
  readonly value: string
  readonly onValue: (value: string) => void
  readonly error?: string | undefined
}

export function AccountInput({ collection, value, onValue, error }: AccountInputProps): ReactNode {
  const listId = useId()
  const filter = `email ~ ${quoted(value)} || id ~ ${quoted(value)}`
  const { value: found = [] } = useLoaded(`${collection} ${filter}`, (signal) =>
    collection === '' ? Promise.resolve([]) : findAccounts(collection, filter, signal),
  )
  return (
    <FormField label={texts.account} help={texts.accountHelp} error={error}>
      {(control) => (
        <>
          <input
            {...control}
            className="input"
            list={listId}
            spellCheck={false}
            autoComplete="off"
            value={value}
            onChange={({ target }) => onValue(target.value)}
          />
          <datalist id={listId}>
            {found.map(({ id, email }) => (
              <option key={id} value={typeof email === 'string' && email !== '' ? email : id}>
                {id}
              </option>
            ))}
          </datalist>
        </>
      )}
    </FormField>
  )
}

/** The id of an account that was typed; the text itself if no account has this address. */
export async function accountId(collection: string, text: string): Promise<string> {
  if (!text.includes('@')) return text
  const [account] = await findAccounts(collection, `email = ${quoted(text)}`)
  return account?.id ?? text
}
