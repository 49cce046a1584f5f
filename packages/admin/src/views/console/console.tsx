/** A console for queries: SQL and what is kept of it as reports, the filter of a list, and Mango. */
import type { ReactNode } from 'react'
import { TEXTS } from '../../texts.ts'
import { CONSOLE } from '../../texts/console.ts'
import { ServerHead } from '../server-head.tsx'
import type { ServerViewProps } from '../view.ts'
import { FilterConsole } from './filter-console.tsx'
import { MangoConsole } from './mango-console.tsx'
import { ReportList } from './report-list.tsx'
import { SqlConsole } from './sql-console.tsx'
import ruleSheet from '../definition/definition.css'
import sheet from './console.css'

const texts = CONSOLE
const PARTS = ['sql', 'reports', 'filter', 'mango'] as const

export function View({ rest: [name] }: ServerViewProps): ReactNode {
  const part = PARTS.find((one) => one === name) ?? PARTS[0]
  const tabs = PARTS.map((one) => ({ title: texts.parts[one], path: ['console', one], isCurrent: one === part }))
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <link rel="stylesheet" href={ruleSheet} precedence="page" />
      <ServerHead title={TEXTS.serverViews.console} tabs={tabs} />
      <div className="view-body">
        <p className="muted">{texts.partTexts[part]}</p>
        {part === 'sql' && <SqlConsole />}
        {part === 'reports' && <ReportList />}
        {part === 'filter' && <FilterConsole />}
        {part === 'mango' && <MangoConsole />}
      </div>
    </>
  )
}
