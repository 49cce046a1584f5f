/** Reports: what they are, what they answer, and who may run them. */
import type { ReportResult } from '@pannier/backend'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { deleteReport, listReports, runReport } from '../../api/reports.ts'
import type { Report } from '../../api/reports.ts'
import { apiUrl } from '../../api/request.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy.ts'
import { confirm } from '../../state/question.ts'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { CONSOLE } from '../../texts/console.ts'
import { ParameterValues, type GivenValues } from './parameter-values.tsx'
import { ReportDialog } from './report-dialog.tsx'
import { ReportRows } from './result.tsx'

const { reports: texts } = CONSOLE

export function ReportList(): ReactNode {
  const { value, error, reload } = useLoaded('reports', listReports)
  const [changed, setChanged] = useState<Report>()
  if (value === undefined) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  if (value.length === 0) return <Notice icon="chart" title={texts.none} text={texts.noneText} />
  const remove = async ({ name }: Report): Promise<void> => {
    const question = { title: texts.deleteOf(name), text: texts.deleteText, yes: texts.deleteYes }
    if (!(await confirm({ ...question, isDanger: true }))) return
    await deleteReport(name)
    await reload()
  }
  return (
    <>
      {value.map((report) => (
        <ReportCard
          key={report.name}
          report={report}
          onChange={() => setChanged(report)}
          onRemove={() => remove(report)}
        />
      ))}
      {changed !== undefined && (
        <ReportDialog
          report={changed}
          old={changed.name}
          onClose={() => setChanged(undefined)}
          onSaved={() => reload()}
        />
      )}
    </>
  )
}

interface ReportCardProps {
  readonly report: Report
  readonly onChange: () => void
  readonly onRemove: () => Promise<void>
}

function ReportCard({ report, onChange, onRemove }: ReportCardProps): ReactNode {
  const { name, description, query, parameters, rule } = report
  const [values, setValues] = useState<GivenValues>({})
  const [result, setResult] = useState<ReportResult>()
  const [refusal, setRefusal] = useState('')
  const { isBusy, run } = useBusy()
  const show = async (): Promise<void> => {
    setRefusal('')
    try {
      setResult(await runReport(name, values))
    } catch (error) {
      setResult(undefined)
      setRefusal(errorText(error))
    }
  }
  return (
    <section className="panel report" aria-labelledby={`report-${name}`}>
      <h2 id={`report-${name}`}>{name}</h2>
      {description !== '' && <p>{description}</p>}
      <pre className="report-query">{query}</pre>
      <p className="muted">{texts.runBy(rule)}</p>
      <ParameterValues parameters={parameters} values={values} onValues={setValues} />
      <div className="result-actions">
        <Button kind="primary" disabled={isBusy} aria-busy={isBusy} onPress={() => run(show)}>
          {CONSOLE.run}
        </Button>
        <Button icon="edit" onPress={onChange}>
          {texts.changeIt}
        </Button>
        <Button icon="copy" onPress={() => copyText(apiUrl(`/reports/${name}`, values))}>
          {texts.copyUrl}
        </Button>
        <Button kind="quiet" icon="trash" label={texts.deleteOf(name)} onPress={onRemove} />
      </div>
      <p className="refusal" role="alert" hidden={refusal === ''}>
        {refusal}
      </p>
      {result !== undefined && <ReportRows name={name} result={result} />}
    </section>
  )
}
