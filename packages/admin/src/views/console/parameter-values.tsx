/** Values for the parameters of a query. An input that is left empty stands for the default. */
import type { ReportParameter } from '@pannier/backend'
import type { ReactNode } from 'react'
import { TextInput } from '../../parts/form-field.tsx'
import { CONSOLE } from '../../texts/console.ts'

const texts = CONSOLE.reports

/** By the names of the parameters. */
export type GivenValues = Readonly<Record<string, string>>

interface ParameterValuesProps {
  readonly parameters: readonly ReportParameter[]
  readonly values: GivenValues
  readonly onValues: (values: GivenValues) => void
}

export function ParameterValues({ parameters, values, onValues }: ParameterValuesProps): ReactNode {
  if (parameters.length === 0) return null
  return (
    <div className="report-values">
      {parameters.map(({ name, type, default: given }) => (
        <TextInput
          key={name}
          label={`${name} (${texts.types[type]})`}
          placeholder={given === undefined ? texts.required : String(given ?? 'NULL')}
          value={values[name] ?? ''}
          onValue={(text) => {
            const { [name]: _, ...others } = values
            onValues(text === '' ? others : { ...others, [name]: text })
          }}
        />
      ))}
    </div>
  )
}
