/** Texts of the records on this device, loaded with its view. */
import { counted } from '../texts.ts'

export const DEVICE = {
  away: {
    title: 'The server is away.',
    asOf: (time: string, filter: string): string =>
      `You see what this device keeps as of ${time}${filter === '' ? '' : `: records with ${filter}`}.`,
    notKept: (collection: string): string =>
      `${collection} is not kept on this device: you see what was loaded before.`,
    unsent: (count: number): string => `${counted(count, 'change waits', 'changes wait')} to be sent.`,
    reading: (count: number): string => `${counted(count, 'record', 'records')} read …`,
    sending: (count: number): string =>
      count === 0 ? 'The server is back.' : `The server is back. Sending ${counted(count, 'change', 'changes')} …`,
    refused: (count: number): string => `The server has refused ${counted(count, 'change', 'changes')} of yours.`,
    show: 'Show them',
    password: 'A password does not wait on this device. Set it when the server is back.',
    stored: 'Stored on this device. It is sent when the server is back.',
    notHere:
      'This filter reads what is not on this device: other collections, or full text. The server answers it when it is back.',
    leave: {
      title: 'Sign out, and lose changes?',
      text: (unsent: number, rejected: number): string =>
        `Signing out deletes all that this device keeps. ${counted(unsent, 'change was', 'changes were')} not sent, and ${counted(rejected, 'was', 'were')} refused.`,
      yes: 'Lose them and sign out',
    },
  },
  kept: {
    title: 'Collections on this device',
    table: 'Records that are kept of each collection',
    text: 'They are read here while the server is away, and what you write then waits here.',
    sensitive:
      'Anyone who can use this browser as you can read them, as they are stored unencrypted. They are deleted when you sign out.',
    none: 'No collection is on this device',
    noneText:
      'Open a collection and press “Keep on this device”. Then it can be read and written while the server is away.',
    collection: 'Collection',
    part: 'Which records',
    whole: 'All',
    records: 'Records',
    size: 'Size',
    state: 'State',
    actions: 'Actions',
    unknownSize: '–',
    complete: 'Up to date',
    asOf: (time: string): string => `As of ${time}`,
    loading: 'Loading …',
    failed: (message: string): string => `Not loaded: ${message}`,
    remove: 'Remove',
    removeOf: (collection: string): string => `Remove ${collection} from this device`,
    removed: (collection: string): string => `${collection} is no longer on this device.`,
    waits: 'Changes of this collection wait or were refused. Send them, or discard them, before you remove it.',
  },
  keep: {
    action: 'Keep on this device',
    title: (collection: string): string => `Keep ${collection} on this device`,
    text: 'The records are copied into this browser, and follow the server. While the server is away you read them here, and your changes wait here until it is back.',
    which: 'Which records',
    all: (count: number | undefined): string =>
      count === undefined ? 'All' : `All ${counted(count, 'record', 'records')}`,
    filtered: 'Those that match a filter',
    filter: 'Filter',
    filterHelp:
      'Over the own fields of a record, such as: created > "2026-01-01". Relations and full text can’t be used.',
    large:
      'This is much. It takes minutes and about as many MiB as there are thousands of records. A filter makes it less.',
    submit: 'Keep them here',
    kept: (collection: string): string => `${collection} is copied to this device.`,
    is: (count: string): string => `On this device: ${count}`,
    loading: (count: string): string => `Copying: ${count}`,
    open: 'What this device keeps',
  },
  waiting: {
    title: 'Waiting',
    text: 'These changes are stored here. They are sent, in this order, when the server is back.',
    none: 'No change waits.',
    what: { create: 'New record of', update: 'Change of', delete: 'Deletion of' },
    fields: 'Values',
  },
  refused: {
    title: 'Refused by the server',
    text: 'These changes of yours are not on the server. Mend them, send them again, or discard them.',
    codes: {
      INVALID: 'The server does not take these values.',
      CONFLICT: 'Somebody else has changed this record meanwhile.',
      NOT_FOUND: 'The record is gone: somebody has deleted it.',
      FORBIDDEN: 'You may not do this.',
      DEPENDS: 'It is based on another change of yours, which was refused.',
    },
    field: 'Field',
    mine: 'Yours',
    theirs: 'On the server',
    empty: '–',
    noRecord: 'no record',
    more: (count: number): string =>
      `${counted(count, 'later change', 'later changes')} of yours build on it, and go with it.`,
    mend: 'Mend …',
    mendTitle: (collection: string): string => `Mend your change of ${collection}`,
    retry: 'Send again',
    overwrite: 'Write mine over theirs',
    discard: 'Discard mine',
    sent: 'Sent again.',
    discarded: 'Discarded.',
    question: 'Discard your change?',
    questionText: 'What you have written is lost. The record stays as it is on the server.',
    save: 'Send it again',
  },
} as const
