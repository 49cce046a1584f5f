/** The view of logs: a list that follows the server, a chart of the hours, and each log whole. */
import type { LogJson } from '@pannier/backend'
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { deleteLogs, listLogs } from '../../api/logs.ts'
import { ApiError } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { CodeEditor } from '../../parts/code-editor/code-editor.tsx'
import type { Completions } from '../../parts/code-editor/contract.ts'
import { confirm } from '../../state/question.ts'
import { useDownload } from '../../parts/copy.ts'
import { Moment } from '../../parts/figures.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { Menu } from '../../parts/menu.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { changeQuery, goTo, useRoute } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { quoted } from '../../api/records.ts'
import { ServerHead } from '../server-head.tsx'
import { LogChart } from './log-chart.tsx'
import { LevelBadge, LogDetails } from './log-details.tsx'
import { both, filterOf, filterOfText, LEVELS, mistakesOf, readLogQuery, withPeriod } from './log-filter.ts'
import type { Level, LogQuery } from './log-filter.ts'
import sheet from './logs.css'

const { logs: texts } = OPERATIONS
const { filter: filterTexts } = TEXTS.records
const PAGE = 100
const SHOWN_MAX = 1000
/** As often as the server stores them. */
const LIVE_MS = 3000
const NAMES = ['id', 'created', 'level', 'message', 'data.auth', 'data.error', 'data.execTime', 'data.method']
const MORE_NAMES = ['data.status', 'data.type', 'data.url', 'data.userAgent', 'data.userIP']

export function View(): ReactNode {
  const { query } = useRoute()
  const wanted = readLogQuery(query)
  const [isLive, setLive] = useState(true)
  const [count, setCount] = useState(PAGE)
  const everyMs = isLive ? LIVE_MS : undefined
  const filter = withPeriod(filterOf(wanted), wanted)
  useEffect(() => setCount(PAGE), [filter])
  const { value, error, reload } = useLoaded(`${count} ${filter}`, (signal) => listLogs(filter, count, signal), everyMs)
  const items = value?.items ?? []
  const isRefused = wanted.text !== '' && error instanceof ApiError && error.status === 400
  const [mistake] = isRefused ? mistakesOf(wanted.text) : []
  const refusal = mistake === undefined ? errorText(error) : filterTexts.at(mistake.at + 1, mistake.message)
  const addFilter = (name: string, given: unknown): void => {
    const same = `${name} = ${typeof given === 'string' ? quoted(given) : String(given)}`
    changeQuery({ q: both(filterOfText(wanted.text), same), log: undefined })
  }
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={texts.title} count={value === undefined ? '' : texts.count(value.totalItems)}>
        <Button icon="refresh" aria-pressed={isLive} className="toggle" onPress={() => setLive(!isLive)}>
          {texts.live}
        </Button>
        <LogMenu items={items} />
      </ServerHead>
      <LogFilter query={wanted} refusal={isRefused ? refusal : undefined} />
      {!isRefused && <LogChart query={wanted} everyMs={everyMs} />}
      {value === undefined && error === undefined && <Loading />}
      {value === undefined && error !== undefined && !isRefused && <Failed error={error} onRetry={reload} />}
      {value !== undefined && items.length === 0 && <Notice icon="list" title={texts.none} text={texts.noneText} />}
      <LogList items={items} />
      {value !== undefined && items.length > 0 && items.length < value.totalItems && (
        <div className="log-more">
          {count < SHOWN_MAX ? (
            <Button onPress={() => setCount(count + PAGE)}>{texts.more}</Button>
          ) : (
            texts.most(SHOWN_MAX)
          )}
        </div>
      )}
      {query['log'] !== undefined && (
        <LogDetails id={query['log']} onClose={() => changeQuery({ log: undefined })} onSame={addFilter} />
      )}
    </>
  )
}

function LogMenu({ items }: { readonly items: readonly LogJson[] }): ReactNode {
  const download = useDownload()
  const remove = async (): Promise<void> => {
    const question = { title: texts.deleteAll, text: texts.deleteText, yes: texts.deleteYes, isDanger: true }
    if (!(await confirm(question))) return
    await deleteLogs()
    showDone(texts.deleted)
    changeQuery({ log: undefined, from: undefined, to: undefined })
  }
  const save = (): void => {
    download(new Blob([JSON.stringify(items, undefined, 2)], { type: 'application/json' }), 'logs.json')
  }
  return (
    <Menu
      label={texts.menu}
      icon="more"
      items={[
        { label: texts.save, icon: 'download', onPress: save },
        { label: texts.settings, icon: 'system', onPress: () => goTo(['settings', 'logs']) },
        { label: texts.deleteAction, icon: 'trash', isDanger: true, onPress: remove },
      ]}
    />
  )
}

interface LogFilterProps {
  readonly query: LogQuery
  readonly refusal: string | undefined
}

function LogFilter({ query, refusal }: LogFilterProps): ReactNode {
  const [text, setText] = useState(query.text)
  useEffect(() => setText(query.text), [query.text])
  const apply = (): void => changeQuery({ q: text.trim() })
  return (
    <search className="filter">
      <div className={`filter-box ${refusal === undefined ? '' : 'filter-wrong'}`}>
        <Icon name="filter" />
        <CodeEditor
          language="rule"
          label={texts.filter}
          hint={texts.filterHint}
          value={text}
          onValue={setText}
          isSingleLine
          onSubmit={apply}
          complete={completeLog}
          check={mistakesOf}
        />
        {text.trim() !== query.text && (
          <Button kind="primary" onPress={apply}>
            {texts.apply}
          </Button>
        )}
        {query.text !== '' && (
          <Button kind="quiet" icon="close" label={texts.clear} onPress={() => changeQuery({ q: undefined })} />
        )}
      </div>
      <select
        className="input log-level"
        aria-label={texts.level}
        value={query.level}
        onChange={({ target }) => changeQuery({ level: target.value === 'all' ? undefined : (target.value as Level) })}
      >
        {LEVELS.map((level) => (
          <option key={level} value={level}>
            {texts.levelChoices[level]}
          </option>
        ))}
      </select>
      <label className="check">
        <input
          type="checkbox"
          checked={query.hasSuperusers}
          onChange={({ target }) => changeQuery({ superusers: target.checked ? 'yes' : undefined })}
        />
        {texts.superusers}
      </label>
      {refusal !== undefined && (
        <p className="field-error" role="alert">
          {refusal}
        </p>
      )}
    </search>
  )
}

function completeLog(text: string, position: number): Completions {
  const [word = ''] = /[\w.]*$/.exec(text.slice(0, position)) ?? []
  return { from: position - word.length, options: [...NAMES, ...MORE_NAMES].map((label) => ({ label })) }
}

function LogList({ items }: { readonly items: readonly LogJson[] }): ReactNode {
  return (
    <ul className="logs" aria-label={texts.title}>
      {items.map((log) => (
        <li key={log.id}>
          <button type="button" className="log" onClick={() => changeQuery({ log: log.id })}>
            <LevelBadge level={log.level} />
            <span className="log-message">{log.message}</span>
            <span className="log-facts">
              {factsOf(log).map((fact) => (
                <span key={fact} className="badge">
                  {fact}
                </span>
              ))}
            </span>
            <span className="log-time">
              <Moment text={log.created} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The most telling facts of a log. */
function factsOf({ data }: LogJson): string[] {
  const { status, execTime, error, auth } = data
  return [
    ...(typeof status === 'number' ? [String(status)] : []),
    ...(typeof execTime === 'number' ? [texts.ms(execTime)] : []),
    ...(typeof auth === 'string' && auth !== '' ? [auth] : []),
    ...(typeof error === 'string' && error !== '' ? [error] : []),
  ]
}
