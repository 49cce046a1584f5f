/** Texts of export and import, loaded with the records. */
import { counted } from '../texts.ts'

export const TRANSFER = {
  export: {
    action: 'Export …',
    title: (collection: string): string => `Export ${collection}`,
    all: 'All records are exported, in the order of their ids.',
    filtered: 'The records that match the filter are exported, in the order of their ids.',
    format: 'Format',
    formats: { csv: 'CSV, for spreadsheets', json: 'JSON' },
    submit: 'Export',
    progress: (done: number): string => `${counted(done, 'record is', 'records are')} read.`,
  },
  import: {
    action: 'Import …',
    title: (collection: string): string => `Import into ${collection}`,
    file: 'File',
    fileHelp: 'CSV whose first line has names, or JSON: a list of objects. All records are imported, or none.',
    unreadable: (message: string): string => `This file can’t be read: ${message}.`,
    noList: 'it has to be a list of objects',
    columns: 'Columns of the file, and the fields that take them',
    leaveOut: 'Leave out',
    sample: (text: string): string => `Such as: ${text}`,
    upsert: 'Change the records whose ids are there already',
    check: 'Check',
    submit: (count: number): string => `Import ${counted(count, 'record', 'records')}`,
    fits: (count: number): string => `${counted(count, 'record', 'records')} can be imported.`,
    made: (count: number): string => `${counted(count, 'record is', 'records are')} imported.`,
    refused: 'Nothing was imported. Mend this in the file, or choose other fields:',
    refusal: (row: number, message: string): string => `Record ${row} of the file: ${message}`,
    others: (count: number): string => `and ${counted(count, 'other', 'others')}`,
    noNumber: (text: string): string => `“${text}” is not a number.`,
    noBool: (text: string): string => `“${text}” is neither yes nor no.`,
    noJson: (message: string): string => `This is not JSON: ${message}.`,
  },
} as const
