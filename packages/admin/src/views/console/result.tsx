/** Rows of an answer: as a table or drawn, and as files. */
import type { ReportResult } from '@pannier/backend'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { Chart } from '../../parts/chart/chart.tsx'
import { copyText, useDownload } from '../../parts/copy.ts'
import { numberText } from '../../parts/figures.tsx'
import { CONSOLE } from '../../texts/console.ts'
import { csvLine } from '../records/transfer/csv.ts'
import { chartOf } from './result-chart.ts'
import { ResultTable } from './result-table.tsx'

const texts = CONSOLE
/** A table of more rows would keep the page busy. Files have all. */
const SHOWN_ROWS_MAX = 1000

interface ResultProps {
  /** The name of files, without its end. */
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

export function Result({ name, columns, rows }: ResultProps): ReactNode {
  const download = useDownload()
  const [isDrawn, setDrawn] = useState(false)
  const drawn = chartOf(columns, rows)
  const json = (): string =>
    JSON.stringify(
      rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]]))),
      undefined,
      2,
    )
  const csv = (): string => [columns, ...rows].map((row) => csvLine(row.map((cell) => String(cell ?? '')))).join('')
  return (
    <>
      <div className="result-actions">
        {drawn !== undefined && (
          <Button icon="chart" aria-pressed={isDrawn} onPress={() => setDrawn(!isDrawn)}>
            {texts.chart}
          </Button>
        )}
        <Button icon="download" onPress={() => download(new Blob([csv()], { type: 'text/csv' }), `${name}.csv`)}>
          {texts.csv}
        </Button>
        <Button
          icon="download"
          onPress={() => download(new Blob([json()], { type: 'application/json' }), `${name}.json`)}
        >
          {texts.json}
        </Button>
        <Button icon="copy" onPress={() => copyText(json())}>
          {texts.copyJson}
        </Button>
      </div>
      {isDrawn && drawn !== undefined ? (
        <figure className="panel figure">
          <figcaption>
            <h2>{texts.chartOf(columns[1]!, columns[0]!)}</h2>
          </figcaption>
          <Chart
            kind={drawn.kind}
            {...(drawn.labels !== undefined && { labels: drawn.labels })}
            label={texts.chartOf(columns[1]!, columns[0]!)}
            format={numberText}
            series={[{ name: columns[1]!, color: 'accent', points: drawn.points }]}
          />
        </figure>
      ) : (
        <>
          <ResultTable label={texts.result} columns={columns} rows={rows.slice(0, SHOWN_ROWS_MAX)} />
          {rows.length > SHOWN_ROWS_MAX && <p className="muted">{texts.more(rows.length - SHOWN_ROWS_MAX)}</p>}
        </>
      )}
    </>
  )
}

/** The answer of a report. */
export function ReportRows({ name, result }: { readonly name: string; readonly result: ReportResult }): ReactNode {
  return (
    <>
      <p role="status">{texts.reports.rows(result.rows.length)}</p>
      {result.rows.length > 0 && <Result name={name} {...result} />}
    </>
  )
}
