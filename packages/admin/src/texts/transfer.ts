/** Texts of export and import, loaded with the records. */
import { counted, NUMBER } from '../texts.ts'

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
    fileHelp: 'CSV whose first line has the names of the fields, or JSON: a list of objects.',
    unreadable: (message: string): string => `This file can’t be read: ${message}.`,
    leftOut: (names: readonly string[]): string => `Left out: ${names.join(', ')}. No field takes them from a file.`,
    submit: (count: number): string => `Import ${counted(count, 'record', 'records')}`,
    progress: (done: number, all: number): string => `${NUMBER.format(done)} of ${NUMBER.format(all)}`,
    made: (count: number): string => `${counted(count, 'record is', 'records are')} made.`,
    refused: (count: number): string => `The server has refused ${counted(count, 'record', 'records')}:`,
    refusal: (row: number, message: string): string => `Record ${row} of the file: ${message}`,
    others: (count: number): string => `and ${counted(count, 'other', 'others')}`,
  },
} as const
