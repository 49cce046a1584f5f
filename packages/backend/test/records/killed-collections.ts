/** What `killed-process.ts` writes to. */
export const KILLED_COLLECTIONS = [
  { id: 'pbc_teams', name: 'teams', fields: [] },
  {
    id: 'pbc_tasks',
    name: 'tasks',
    indexes: ['CREATE UNIQUE INDEX `tasks_name` ON `tasks` (`name`)'],
    fields: [
      { type: 'text', name: 'name' },
      { type: 'relation', name: 'team', collectionId: 'pbc_teams', cascadeDelete: true },
    ],
  },
] as const

/** More than a delete takes along in one turn. */
export const TASKS_OF_TEAM = 120

export function teamId(n: number): string {
  return `team${String(n).padStart(11, '0')}`
}
