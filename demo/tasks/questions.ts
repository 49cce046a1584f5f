/** The questions of the page: those that users of PocketBase ask about, as they are slow there. */

export interface Question {
  readonly title: string
  /** The reason why the question is hard. */
  readonly why: string
  readonly filter?: string
  readonly sort?: string
  readonly page?: number
  readonly expand?: string
}

export const QUESTIONS: readonly Question[] = [
  { title: 'How many tasks are mine to see?', why: 'A total under a rule that goes through a relation of many' },
  { title: 'Page 50, newest first', why: 'A deep page, with its total', sort: '-created', page: 50 },
  { title: 'Tasks of leads', why: 'A condition on a related record', filter: "assignee.role = 'lead'" },
  {
    title: 'Open tasks of projects of team Atlas',
    why: 'Two relations deep',
    filter: "state = 'open' && project.team.name = 'Atlas'",
  },
  { title: 'Nothing urgent about it', why: 'No element of a list may match', filter: "labels:each != 'urgent'" },
  {
    title: 'In projects without Eve',
    why: 'No related record may match',
    filter: "project.members.name != 'Eve'",
  },
  { title: '“slow” in the title', why: 'Text anywhere in a field', filter: "title ~ 'slow'" },
  { title: 'By the name of the assignee', why: 'An order by a related record', sort: 'assignee.name,-due' },
  {
    title: 'With project, its team and assignee',
    why: 'Related records of related records in one answer',
    sort: 'due',
    expand: 'project.team,assignee',
  },
]
