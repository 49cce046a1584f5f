/** Texts of the console, of plans and of reports. */
import { counted } from '../texts.ts'

export const CONSOLE = {
  parts: { sql: 'SQL', reports: 'Reports', filter: 'Filter of a list', mango: 'Mango' },
  partTexts: {
    sql: 'Statements see the collections as tables. What they write passes the definitions, all or nothing.',
    reports:
      'A report is a SELECT that apps run by its name. Its own rule says who may: the rules of collections are not asked.',
    filter: 'How the server answers the list of a collection: which index it reads, and how many rows.',
    mango: 'Queries of CouchDB’s clients, on any database.',
  },
  sql: 'Statements of SQL',
  history: 'Run before …',
  clearHistory: 'Forget them all',
  chart: 'Chart',
  csv: 'CSV',
  json: 'JSON',
  copyJson: 'Copy as JSON',
  chartOf: (value: string, by: string): string => `${value} by ${by}`,
  more: (rows: number): string => `${counted(rows, 'more row is', 'more rows are')} in the files.`,
  planHelp: 'A step that scans reads each row of its table. An index on what the statement asks for makes it a search.',
  reports: {
    save: 'Save as a report',
    change: (name: string): string => `Change ${name}`,
    submit: 'Save',
    saved: (name: string): string => `The report ${name} is saved.`,
    name: 'Name',
    nameHelp: 'Small letters, digits, “-” and “_”. Apps ask for /api/reports/NAME.',
    description: 'Description',
    query: 'Query',
    parameters: 'Parameters',
    noParameters: 'Write :name in the query for a value that each request gives.',
    parametersHelp: 'Each request gives their values. One without a default must be given.',
    wrongParameters: 'A default does not fit the type of its parameter.',
    typeOf: (name: string): string => `Type of ${name}`,
    defaultOf: (name: string): string => `Default of ${name}`,
    required: 'must be given',
    types: { text: 'text', number: 'number', integer: 'whole number', bool: 'true or false', date: 'date' },
    rule: 'Who may run it',
    ruleHelp:
      'Everybody whom the rule admits sees each row that the query finds. A rule reads parameters as @request.query.NAME.',
    runBy: (rule: string | null): string =>
      rule === null
        ? 'Superusers may run it.'
        : rule === ''
          ? 'Everybody may run it.'
          : `Run by those who meet: ${rule}`,
    rows: (rows: number): string => `${counted(rows, 'row', 'rows')}.`,
    changeIt: 'Change',
    copyUrl: 'Copy the URL',
    deleteOf: (name: string): string => `Delete ${name}`,
    deleteText: 'Apps that ask for it get an error from then on.',
    deleteYes: 'Delete the report',
    none: 'No reports yet',
    noneText: 'Write a SELECT in the console, and save it as a report.',
  },
  run: 'Run',
  runKey: 'Ctrl + Enter',
  explain: 'Explain',
  result: 'Result',
  sqlResult: (rows: number, affected: number, ms: number): string =>
    `${affected > 0 ? `${counted(affected, 'row is', 'rows are')} written` : counted(rows, 'row', 'rows')}, in ${Math.round(ms)} ms.`,
  collection: 'Collection',
  filter: 'Filter',
  sort: 'Sort',
  sortHelp: 'Such as -created,title. “-” is descending.',
  toRecords: 'Show the records',
  database: 'Database',
  mango: 'A query of Mango',
  malformed: (message: string): string => `This is no JSON: ${message}`,
  found: (count: number, examined: number, ms: number): string =>
    `${counted(count, 'document', 'documents')} of ${counted(examined, 'examined one', 'examined ones')}, in ${ms.toFixed(1)} ms.`,
  makeIndex: 'Make this index',
  plan: {
    title: 'Plan',
    rows: (rows: string, isExact: boolean): string => `${isExact ? '' : 'about '}${rows} rows`,
    stepRows: (rows: string): string => `${rows} rows`,
    cost: (cost: string): string => `cost ${cost}`,
    sorted: 'sorted by an index',
    covering: 'answered by an index alone',
    suggestion: (fields: string): string => `An index on ${fields} would answer this faster.`,
  },
} as const
