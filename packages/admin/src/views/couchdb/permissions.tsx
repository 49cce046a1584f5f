/** The permissions of a database: its admins and its members, by name and by role. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { readSecurity, saveSecurity } from '../../api/couchdb.ts'
import type { Security } from '../../api/couchdb.ts'
import { FormField } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { findCollection, useCollections } from '../../state/collections.ts'
import { linkTo } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { permissions: texts } = OPERATIONS
const GRANTS = [
  ['members', 'names'],
  ['members', 'roles'],
  ['admins', 'names'],
  ['admins', 'roles'],
] as const

export function Permissions({ database }: { readonly database: string }): ReactNode {
  const { list } = useCollections()
  const collection = findCollection(list, database)
  if (collection === undefined) return <Loaded database={database} />
  return (
    <Notice icon="lock" title={texts.ofCollection} text={texts.ofCollectionText}>
      <a className="button" href={linkTo(['rules', collection.name])}>
        {texts.rules}
      </a>
    </Notice>
  )
}

function Loaded({ database }: { readonly database: string }): ReactNode {
  const { value, error, reload } = useLoaded(database, (signal) => readSecurity(database, signal))
  if (value === undefined) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  return <PermissionsForm key={JSON.stringify(value)} database={database} stored={value} onSaved={reload} />
}

interface PermissionsFormProps {
  readonly database: string
  readonly stored: Security
  readonly onSaved: () => Promise<void>
}

function PermissionsForm({ database, stored, onSaved }: PermissionsFormProps): ReactNode {
  const [security, setSecurity] = useState(stored)
  const save = async (): Promise<undefined> => {
    await saveSecurity(database, security)
    showDone(texts.saved)
    await onSaved()
    return undefined
  }
  return (
    <div className="permissions">
      <p role="status">
        <b>{texts.means(meaningOf(security))}</b>
      </p>
      <Form onSubmit={save} submit={texts.save}>
        {GRANTS.map(([group, kind]) => (
          <ListInput
            key={`${group} ${kind}`}
            label={texts.labels[group][kind]}
            help={texts.help[group][kind]}
            value={security[group][kind]}
            onValue={(value) => setSecurity({ ...security, [group]: { ...security[group], [kind]: value } })}
          />
        ))}
      </Form>
    </div>
  )
}

/** The meaning of the members: who reads and writes. `_admin` is a role that nobody has but admins of the server. */
function meaningOf({ members }: Security): 'everybody' | 'admins' | 'members' {
  if (members.names.length === 0 && members.roles.length === 0) return 'everybody'
  return members.names.length === 0 && members.roles.every((role) => role === '_admin') ? 'admins' : 'members'
}

interface ListInputProps {
  readonly label: string
  readonly help: string
  readonly value: readonly string[]
  readonly onValue: (value: readonly string[]) => void
}

function ListInput({ label, help, value, onValue }: ListInputProps): ReactNode {
  // What is typed stays as it is: a line that is still empty, too.
  const [text, setText] = useState(value.join('\n'))
  return (
    <FormField label={label} help={help}>
      {(control) => (
        <textarea
          {...control}
          className="input"
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          value={text}
          spellCheck={false}
          onChange={({ target }) => {
            setText(target.value)
            onValue([...new Set(target.value.split('\n').map((line) => line.trim()))].filter((line) => line !== ''))
          }}
        />
      )}
    </FormField>
  )
}
