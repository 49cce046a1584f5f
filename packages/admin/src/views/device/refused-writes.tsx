/** Changes that the server has refused: why, what is there instead, and what to do. */
import type { RecordWrite, RejectedWrite } from '@pannier/client'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../state/question.ts'
import { showDone } from '../../parts/toasts.tsx'
import { DEVICE } from '../../texts/device.ts'
import { MendDialog } from './mend-dialog.tsx'
import { messageOf, valueText, WriteName } from './write-parts.tsx'

const { refused: texts } = DEVICE

export function RefusedWrites({ rejected }: { readonly rejected: readonly RejectedWrite[] }): ReactNode {
  const [mended, setMended] = useState<RejectedWrite>()
  return (
    <section className="view-part" aria-labelledby="refused">
      <h2 id="refused">{texts.title}</h2>
      <p className="muted">{texts.text}</p>
      <ol className="writes">
        {rejected.map((one) => (
          <li key={one.id} className="write write-refused">
            <Refused rejected={one} onMend={() => setMended(one)} />
          </li>
        ))}
      </ol>
      {mended !== undefined && <MendDialog rejected={mended} onClose={() => setMended(undefined)} />}
    </section>
  )
}

function Refused({ rejected, onMend }: { readonly rejected: RejectedWrite; readonly onMend: () => void }): ReactNode {
  const { code, writes, at, theirs, data } = rejected
  const write = writes[at]
  if (write === undefined) return null
  const isConflict = code === 'CONFLICT'
  const retry = async (): Promise<void> => {
    await rejected.retry()
    showDone(texts.sent)
  }
  const discard = async (): Promise<void> => {
    if (!(await confirm({ title: texts.question, text: texts.questionText, yes: texts.discard, isDanger: true })))
      return
    await rejected.discard()
    showDone(texts.discarded)
  }
  return (
    <>
      <h3>
        <WriteName write={write} />
      </h3>
      <p className="write-why">{reasonOf(rejected)}</p>
      {Object.keys(write.mine).length > 0 && <Compared write={write} theirs={theirs} errors={data} />}
      {writes.length > 1 && <p className="muted">{texts.more(writes.length - 1)}</p>}
      <div className="write-actions">
        {write.action !== 'delete' && code !== 'NOT_FOUND' && (
          <Button kind={isConflict ? 'plain' : 'primary'} icon="edit" onPress={onMend}>
            {texts.mend}
          </Button>
        )}
        {code !== 'NOT_FOUND' && (
          <Button icon="refresh" onPress={retry}>
            {isConflict ? texts.overwrite : texts.retry}
          </Button>
        )}
        <Button icon="trash" onPress={discard}>
          {texts.discard}
        </Button>
      </div>
    </>
  )
}

/** Ours for what happened, and the server's words where it has some for a value. */
function reasonOf({ code, message, data }: RejectedWrite): string {
  const known = (texts.codes as Readonly<Record<string, string>>)[code]
  const hasFields = Object.keys(data).length > 0
  return known === undefined || (code === 'INVALID' && !hasFields) ? message : known
}

interface ComparedProps {
  readonly write: RecordWrite
  readonly theirs: Readonly<Record<string, unknown>> | null
  readonly errors: Readonly<Record<string, unknown>>
}

/** A table of the change's values beside the server's, with the errors. */
function Compared({ write, theirs, errors }: ComparedProps): ReactNode {
  return (
    <table className="write-compared">
      <thead>
        <tr>
          <th scope="col">{texts.field}</th>
          <th scope="col">{texts.mine}</th>
          <th scope="col">{texts.theirs}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(write.mine).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              {valueText(value)}
              {messageOf(errors[name]) !== undefined && <p className="field-error">{messageOf(errors[name])}</p>}
            </td>
            <td>{theirs === null ? texts.noRecord : valueText(theirs[name])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
