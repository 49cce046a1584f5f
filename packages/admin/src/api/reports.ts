/** Reports: SELECTs that superusers keep, and that others may run. */
import type { ReportInput, ReportParameter, ReportResult } from '@pannier/backend'
import { request } from './request.ts'

export const PARAMETER_TYPES: readonly ReportParameter['type'][] = ['text', 'number', 'integer', 'bool', 'date']

/** A report, as a superuser writes it. */
export type Report = Required<ReportInput>

export function listReports(signal?: AbortSignal): Promise<readonly Report[]> {
  return request('GET', '/reports', signal === undefined ? {} : { signal })
}

/** `old`: the name of the report that changes. @throws ApiError with what is wrong */
export function saveReport(report: Report, old?: string): Promise<Report> {
  const { name, description, query, parameters, rule } = report
  const body = { name, description, query, parameters, rule }
  return old === undefined ? request('POST', '/reports', { body }) : request('PATCH', pathOf(old), { body })
}

export function deleteReport(name: string): Promise<void> {
  return request('DELETE', pathOf(name))
}

/** With the defaults of its parameters, unless there are values. @throws ApiError */
export function runReport(name: string, values: Readonly<Record<string, string>>): Promise<ReportResult> {
  return request('GET', `${pathOf(name)}?${new URLSearchParams(values).toString()}`)
}

/** Runs a SELECT that is no report, with the defaults of its parameters. @throws ApiError */
export function previewReport(query: string, parameters: readonly ReportParameter[]): Promise<ReportResult> {
  return request('POST', '/reports/preview', { body: { query, parameters } })
}

function pathOf(name: string): string {
  return `/reports/${encodeURIComponent(name)}`
}
