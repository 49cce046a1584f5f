/** The configuration with which the server was started, as CouchDB's clients read it, and the admins of CouchDB's door. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { deleteCouchAdmin, readConfiguration, saveCouchAdmin } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { confirm } from '../../state/question.ts'
import { TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { configuration: texts } = OPERATIONS

export function ConfigurationView(): ReactNode {
  const { value, error, reload } = useLoaded('configuration', readConfiguration)
  const [isMaking, setMaking] = useState(false)
  if (value === undefined) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  const { admins = {}, ...sections } = value
  const settings = Object.entries(sections).flatMap(([section, values]) =>
    Object.entries(values).map(([key, text]) => ({ name: `${section}/${key}`, text })),
  )
  const remove = async (name: string): Promise<void> => {
    const question = { title: texts.remove(name), text: texts.removeText, yes: texts.removeYes, isDanger: true }
    if (!(await confirm(question))) return
    await deleteCouchAdmin(name)
    await reload()
  }
  return (
    <>
      <section className="view-part" aria-labelledby="couch-admins">
        <div className="part-actions">
          <h2 id="couch-admins">{texts.admins}</h2>
          <Button icon="add" onPress={() => setMaking(true)}>
            {texts.new}
          </Button>
        </div>
        <p className="muted">{texts.adminsText}</p>
        <ul className="couch-admins">
          {Object.keys(admins).map((name) => (
            <li key={name}>
              <code>{name}</code>
              <Button kind="quiet" icon="trash" label={texts.removeOf(name)} onPress={() => remove(name)} />
            </li>
          ))}
        </ul>
      </section>
      <section className="view-part" aria-labelledby="couch-settings">
        <h2 id="couch-settings">{texts.settings}</h2>
        <p className="muted">{texts.settingsText}</p>
        <DataTable
          label={texts.values}
          columns={[
            { name: 'name', title: texts.name, cell: ({ name }) => <code>{name}</code> },
            { name: 'value', title: texts.value, cell: ({ text }) => <code>{text === '' ? '–' : text}</code> },
          ]}
          rows={settings}
          keyOf={({ name }) => name}
        />
      </section>
      {isMaking && <NewAdmin onClose={() => setMaking(false)} onMade={reload} />}
    </>
  )
}

interface NewAdminProps {
  readonly onClose: () => void
  readonly onMade: () => Promise<void>
}

function NewAdmin({ onClose, onMade }: NewAdminProps): ReactNode {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const make = async (): Promise<undefined> => {
    await saveCouchAdmin(name.trim(), password)
    showDone(texts.made(name.trim()))
    onClose()
    await onMade()
    return undefined
  }
  return (
    <Dialog title={texts.new} onClose={onClose}>
      <Form onSubmit={make} submit={texts.make}>
        <TextInput label={texts.name} value={name} onValue={setName} required autoComplete="off" spellCheck={false} />
        <TextInput
          label={texts.password}
          help={texts.passwordHelp}
          type="password"
          value={password}
          onValue={setPassword}
          required
          autoComplete="new-password"
        />
      </Form>
    </Dialog>
  )
}
