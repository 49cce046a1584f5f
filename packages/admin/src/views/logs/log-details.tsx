/** One log, with all that it says. */
import type { LogJson } from '@pannier/backend'
import type { ReactNode } from 'react'
import { viewLog } from '../../api/logs.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { logs: texts } = OPERATIONS

interface LogDetailsProps {
  readonly id: string
  readonly onClose: () => void
  /** Shows those that have the same value only. */
  readonly onSame: (name: string, value: unknown) => void
}

export function LogDetails({ id, onClose, onSame }: LogDetailsProps): ReactNode {
  const { value: log, error, reload } = useLoaded(id, () => viewLog(id))
  return (
    <Dialog
      title={texts.log}
      subtitle={<code className="cell-id">{id}</code>}
      place="side"
      onClose={onClose}
      footer={
        log !== undefined && (
          <Button icon="copy" onPress={() => copyText(JSON.stringify(log, undefined, 2))}>
            {texts.copyJson}
          </Button>
        )
      }
    >
      {log !== undefined ? (
        <Facts log={log} onSame={onSame} />
      ) : error === undefined ? (
        <Loading />
      ) : (
        <Failed error={error} onRetry={reload} />
      )}
    </Dialog>
  )
}

function Facts({ log, onSame }: { readonly log: LogJson } & Pick<LogDetailsProps, 'onSame'>): ReactNode {
  return (
    <dl className="facts">
      <Fact name={texts.message}>{log.message}</Fact>
      <Fact name={texts.level}>
        <LevelBadge level={log.level} />
      </Fact>
      <Fact name={texts.time}>
        <Moment text={log.created} /> <span className="muted">({log.created})</span>
      </Fact>
      {Object.entries(log.data).map(([name, value]) => (
        <Fact key={name} name={name}>
          {typeof value === 'object' && value !== null ? (
            <pre className="facts-json">{JSON.stringify(value, undefined, 2)}</pre>
          ) : (
            <>
              {String(value)}{' '}
              <Button
                kind="quiet"
                icon="filter"
                label={texts.same(name)}
                className="facts-same"
                onPress={() => onSame(`data.${name}`, value)}
              />
            </>
          )}
        </Fact>
      ))}
      {Object.keys(log.data).length === 0 && <p className="muted">{TEXTS.records.empty}</p>}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The level of a log in a word, and in a colour beside it. */
export function LevelBadge({ level }: { readonly level: number }): ReactNode {
  const name = level >= 8 ? 'error' : level >= 4 ? 'warning' : level >= 0 ? 'info' : 'debug'
  return <span className={`badge level-${name}`}>{texts.levels[name]}</span>
}
