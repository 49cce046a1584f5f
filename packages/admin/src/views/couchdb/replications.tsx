/** Replications: how each stands, what makes one, and what ends it. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { cancelReplication, listReplications, makeReplication } from '../../api/couchdb.ts'
import type { Replication } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { confirm } from '../../state/question.ts'
import { Moment, numberText } from '../../parts/figures.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { couchdb: texts } = OPERATIONS
const EVERY_MS = 2000
const GOOD = ['running', 'completed']

export function Replications(): ReactNode {
  const { value, error, reload } = useLoaded('replications', listReplications, EVERY_MS)
  const [isMaking, setMaking] = useState(false)
  const cancel = async (replication: Replication): Promise<void> => {
    const question = { title: texts.cancelTitle, text: texts.cancelText, yes: texts.cancelYes, isDanger: true }
    if (!(await confirm(question))) return
    await cancelReplication(replication)
    await reload()
  }
  return (
    <>
      <div className="part-actions">
        <p className="muted">{texts.replicationsText}</p>
        <Button kind="primary" icon="add" onPress={() => setMaking(true)}>
          {texts.newReplication}
        </Button>
      </div>
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value?.length === 0 && <Notice icon="refresh" title={texts.noReplications} text={texts.noReplicationsText} />}
      {value !== undefined && value.length > 0 && (
        <DataTable
          label={texts.parts.replications}
          columns={columnsOf(cancel)}
          rows={value}
          keyOf={({ doc_id: doc, id }) => doc ?? id}
        />
      )}
      {isMaking && <NewReplication onClose={() => setMaking(false)} onMade={reload} />}
    </>
  )
}

function columnsOf(cancel: (one: Replication) => Promise<void>): readonly DataColumn<Replication>[] {
  return [
    {
      name: 'from',
      title: texts.fromTo,
      cell: ({ source, target }) => (
        <span className="from-to">
          <code>{source}</code> <span aria-hidden="true">→</span>
          <span className="hidden-text">{texts.to}</span> <code>{target}</code>
        </span>
      ),
    },
    {
      name: 'state',
      title: texts.state,
      cell: ({ state, info }) => (
        <>
          <span className={`badge ${GOOD.includes(state) ? 'badge-good' : 'level-warning'}`}>{state}</span>
          {typeof info?.['error'] === 'string' && <p className="field-error">{info['error']}</p>}
        </>
      ),
    },
    {
      name: 'written',
      title: texts.written,
      isNumber: true,
      cell: ({ info }) => (typeof info?.['docs_written'] === 'number' ? numberText(info['docs_written']) : '–'),
    },
    {
      name: 'since',
      title: texts.changedAt,
      cell: ({ last_updated, start_time }) => <Moment text={last_updated ?? start_time} />,
    },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (one) => (
        <Button label={texts.cancelOf(one.source, one.target)} onPress={() => cancel(one)}>
          {texts.cancelReplication}
        </Button>
      ),
    },
  ]
}

interface NewReplicationProps {
  readonly onClose: () => void
  readonly onMade: () => Promise<void>
}

function NewReplication({ onClose, onMade }: NewReplicationProps): ReactNode {
  const [source, setSource] = useState('')
  const [target, setTarget] = useState('')
  const [isContinuous, setContinuous] = useState(false)
  const [makesTarget, setMakesTarget] = useState(false)
  const make = async (): Promise<undefined> => {
    await makeReplication({
      source: source.trim(),
      target: target.trim(),
      continuous: isContinuous,
      create_target: makesTarget,
    })
    onClose()
    await onMade()
    return undefined
  }
  return (
    <Dialog title={texts.newReplication} onClose={onClose}>
      <Form onSubmit={make} submit={texts.makeReplication}>
        <TextInput label={texts.source} help={texts.peerHelp} value={source} onValue={setSource} required />
        <TextInput label={texts.target} value={target} onValue={setTarget} required />
        <label className="check">
          <input type="checkbox" checked={isContinuous} onChange={({ target: box }) => setContinuous(box.checked)} />
          {texts.continuous}
        </label>
        <label className="check">
          <input type="checkbox" checked={makesTarget} onChange={({ target: box }) => setMakesTarget(box.checked)} />
          {texts.createTarget}
        </label>
      </Form>
    </Dialog>
  )
}
