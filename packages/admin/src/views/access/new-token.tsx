/** Makes an API token, and shows it once. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { ACTIONS, makeApiToken } from '../../api/access.ts'
import type { Action, Scopes } from '../../api/access.ts'
import { ApiError } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { useCollections } from '../../state/collections.ts'
import { useEnvironment } from '../../environment.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { AccountChoice } from '../account-choice.tsx'
import type { ChosenAccount } from '../account-choice.tsx'
import { MadeToken } from './made-token.tsx'

const { access: texts } = OPERATIONS
const LIFETIMES = [30, 90, 365, 0] as const
const DAY_MS = 86_400_000

export function NewToken({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [token, setToken] = useState<string>()
  if (token !== undefined) return <MadeToken token={token} text={texts.tokenOnce} scheme="Bearer " onClose={onClose} />
  return (
    <Dialog title={texts.newToken} place="side" onClose={onClose}>
      <TokenForm onMade={setToken} />
    </Dialog>
  )
}

function TokenForm({ onMade }: { readonly onMade: (token: string) => void }): ReactNode {
  const environment = useEnvironment()
  const { list } = useCollections()
  const accounts = list.filter(({ type, system }) => type === 'auth' && !system)
  const [name, setName] = useState('')
  const [collection, setCollection] = useState(accounts[0]?.name ?? '')
  const [account, setAccount] = useState<ChosenAccount>()
  const [days, setDays] = useState(90)
  const [scopes, setScopes] = useState<Scopes>({})
  const [errors, setErrors] = useState<ApiError['fields']>({})
  const make = async (): Promise<string | undefined> => {
    setErrors({})
    try {
      const record = account?.row.id ?? ''
      const end = environment.wallClock() + days * DAY_MS
      const expires = days === 0 ? '' : new Date(end).toISOString().replace('T', ' ')
      onMade((await makeApiToken({ name: name.trim(), collection, record, expires, scopes })).token)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError) || Object.keys(error.fields).length === 0) return errorText(error)
      setErrors(error.fields)
      return undefined
    }
  }
  return (
    <Form onSubmit={make} submit={texts.makeToken}>
      <TextInput
        label={texts.name}
        help={texts.tokenNameHelp}
        value={name}
        onValue={setName}
        error={errors['name']?.message}
        autoComplete="off"
      />
      <AccountChoice
        label={texts.collection}
        collection={collection}
        hasSuperusers={false}
        chosen={account}
        onChoose={(chosen, of) => {
          setAccount(chosen)
          setCollection(of)
        }}
        error={errors['record']?.message ?? errors['collection']?.message}
      />
      <FormField label={texts.expires}>
        {(control) => (
          <select {...control} className="input" value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {LIFETIMES.map((option) => (
              <option key={option} value={option}>
                {option === 0 ? texts.never : texts.inDays(option)}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <ScopeTable
        names={list.filter(({ system }) => !system).map((one) => one.name)}
        scopes={scopes}
        onScopes={setScopes}
        error={errors['scopes']?.message}
      />
    </Form>
  )
}

interface ScopeTableProps {
  readonly names: readonly string[]
  readonly scopes: Scopes
  readonly onScopes: (scopes: Scopes) => void
  readonly error: string | undefined
}

function ScopeTable({ names, scopes, onScopes, error }: ScopeTableProps): ReactNode {
  const set = (name: string, actions: readonly Action[]): void => {
    const others = Object.entries(scopes).filter(([other]) => other !== name)
    onScopes(Object.fromEntries(actions.length === 0 ? others : [...others, [name, actions]]))
  }
  return (
    <fieldset className="field">
      <legend className="field-label">{texts.scopes}</legend>
      <p className="field-help">{texts.scopesHelp}</p>
      <div className="data-box" tabIndex={0} role="region" aria-label={texts.scopes}>
        <table className="scopes">
          <thead>
            <tr>
              <td />
              {ACTIONS.map((action) => (
                <th key={action} scope="col">
                  {texts.actionNames[action]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {ACTIONS.map((action) => {
                  const chosen = scopes[name] ?? []
                  const isOn = chosen.includes(action)
                  return (
                    <td key={action}>
                      <label className="scope">
                        <input
                          type="checkbox"
                          aria-label={texts.scope(name, texts.actionNames[action])}
                          checked={isOn}
                          onChange={() =>
                            set(name, isOn ? chosen.filter((one) => one !== action) : [...chosen, action])
                          }
                        />
                      </label>
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}
