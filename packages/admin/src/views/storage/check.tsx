/** The check of the whole database, with its progress and what it has found. */
import type { CheckState } from '@pannier/backend'
import type { ReactNode } from 'react'
import { cancelCheck, checkState, startCheck } from '../../api/inspection.ts'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../state/question.ts'
import { Moment } from '../../parts/figures.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { check: texts } = OPERATIONS.storage
const EVERY_MS = 1000

export function Check(): ReactNode {
  const { value, reload } = useLoaded('check', checkState, EVERY_MS)
  const start = async (): Promise<void> => {
    if (!(await confirm({ title: texts.question, text: texts.text, yes: texts.start }))) return
    await startCheck()
    await reload()
  }
  const cancel = async (): Promise<void> => {
    await cancelCheck()
    await reload()
  }
  return (
    <section className="panel check-panel" aria-labelledby="check">
      <div>
        <h2 id="check">{texts.title}</h2>
        <div role="status">{value !== undefined && <Outcome state={value} />}</div>
      </div>
      {value?.running === true ? (
        <>
          <progress aria-label={texts.title} max={1} value={value.progress} />
          <Button onPress={cancel}>{TEXTS.actions.cancel}</Button>
        </>
      ) : (
        <Button icon="check" onPress={start}>
          {texts.action}
        </Button>
      )}
      {value !== undefined && value.problems.length > 0 && <Problems state={value} />}
    </section>
  )
}

function Outcome({
  state: { running, progress, ended, problemCount, error },
}: {
  readonly state: CheckState
}): ReactNode {
  if (running) return <p className="muted">{texts.progress(Math.floor(progress * 100))}</p>
  if (ended === '') return <p className="muted">{texts.never}</p>
  if (error !== '') return <p className="field-error">{texts.failed(error)}</p>
  return (
    <p className={problemCount === 0 ? 'good' : 'field-error'}>
      {problemCount === 0 ? texts.sound : texts.problems(problemCount)} <Moment text={ended} />
    </p>
  )
}

function Problems({ state: { problems } }: { readonly state: CheckState }): ReactNode {
  return (
    <ul className="refusal check-problems">
      {problems.map(({ code, where, message }) => (
        <li key={`${code} ${where} ${message}`}>
          <code>{code}</code> {where}: {message}
        </li>
      ))}
    </ul>
  )
}
