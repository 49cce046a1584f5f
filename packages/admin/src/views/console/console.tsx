/** A console for queries: SQL, the filter of a list, and Mango, with the plan of the latter two. */
import type { ReactNode } from 'react'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import type { ServerViewProps } from '../view.ts'
import { FilterConsole } from './filter-console.tsx'
import { MangoConsole } from './mango-console.tsx'
import { SqlConsole } from './sql-console.tsx'
import sheet from './console.css'

const { console: texts } = OPERATIONS
const PARTS = ['sql', 'filter', 'mango'] as const

export function View({ rest: [name] }: ServerViewProps): ReactNode {
  const part = PARTS.find((one) => one === name) ?? PARTS[0]
  const tabs = PARTS.map((one) => ({ title: texts.parts[one], path: ['console', one], isCurrent: one === part }))
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={TEXTS.serverViews.console} tabs={tabs} />
      <div className="view-body">
        <p className="muted">{texts.partTexts[part]}</p>
        {part === 'sql' && <SqlConsole />}
        {part === 'filter' && <FilterConsole />}
        {part === 'mango' && <MangoConsole />}
      </div>
    </>
  )
}
