/** The same records at every start: teams, people, projects, and the tasks of each project. */
import { seededRandom } from '../../packages/db/testing/random.ts'
import { LABELS, STATES } from './definitions.ts'
import { addressOf, personId } from './visitors.ts'

/** A record without the fields that the server fills in. */
export type SeedRecord = Readonly<Record<string, unknown>> & { readonly id: string }

const TEAMS = 20
const PEOPLE_PER_TEAM = 10
const PROJECTS_PER_TEAM = 10
const MEMBERS_PER_PROJECT = 6
const SEED = 20_261_123
const DAY_MS = 86_400_000
const FIRST_DAY = Date.UTC(2026, 0, 1)

const TEAM_NAMES =
  'Atlas Basalt Cedar Delta Ember Fjord Garnet Harbor Iris Juniper Kestrel Lark Maple North Opal Pine Quartz River Sierra Tide'
const FIRST_NAMES = 'Ann Ben Cleo Dan Eve Finn Gus Hana Ida Jon'
const PROJECT_NAMES = 'Website Billing Search Onboarding Mobile Reports Exports Payments Accounts Notifications'
const VERBS = 'Fix Write Review Design Test Move Rename Measure Document Remove'
const THINGS =
  'the login form|the export to CSV|slow pages|the empty state|the e-mail template|flaky tests|the price table|error messages|the sidebar|old migrations|the release notes|the search box'

export function teams(): SeedRecord[] {
  return TEAM_NAMES.split(' ').map((name, team) => ({ id: teamId(team), name }))
}

export function people(): SeedRecord[] {
  return inEachTeam(PEOPLE_PER_TEAM, (team, person) => ({
    id: personId(team, person),
    email: addressOf(personId(team, person)),
    emailVisibility: true,
    verified: true,
    name: FIRST_NAMES.split(' ')[person]!,
    team: teamId(team),
    role: person === 0 ? 'lead' : 'member',
  }))
}

export function projects(): SeedRecord[] {
  return inEachTeam(PROJECTS_PER_TEAM, (team, project) => ({
    id: projectId(team, project),
    name: `${TEAM_NAMES.split(' ')[team]!} ${PROJECT_NAMES.split(' ')[project]!}`,
    team: teamId(team),
    members: membersOf(team, project),
    archived: project === PROJECTS_PER_TEAM - 1,
  }))
}

/** In the order of their creation. */
export function* tasks(count: number): Iterable<SeedRecord> {
  const random = seededRandom(SEED)
  const verbs = VERBS.split(' ')
  const things = THINGS.split('|')
  for (let index = 0; index < count; index++) {
    const team = random.below(TEAMS)
    const project = random.below(PROJECTS_PER_TEAM)
    const isAssigned = random.chance(0.9)
    yield {
      id: `task${String(index).padStart(7, '0')}`,
      title: `${random.pick(verbs)} ${random.pick(things)}`,
      project: projectId(team, project),
      assignee: isAssigned ? random.pick(membersOf(team, project)) : '',
      state: random.pick(STATES),
      labels: LABELS.filter(() => random.chance(0.2)),
      due: random.chance(0.7) ? dateText(FIRST_DAY + random.below(365) * DAY_MS) : '',
    }
  }
}

function inEachTeam(count: number, make: (team: number, index: number) => SeedRecord): SeedRecord[] {
  return Array.from({ length: TEAMS * count }, (_, at) => make(Math.floor(at / count), at % count))
}

/** Each person is in six of the ten projects of the team. */
function membersOf(team: number, project: number): string[] {
  return Array.from({ length: MEMBERS_PER_PROJECT }, (_, at) => personId(team, (project + at) % PEOPLE_PER_TEAM))
}

function teamId(team: number): string {
  return `team${team}`
}

function projectId(team: number, project: number): string {
  return `project${team}x${project}`
}

function dateText(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('T', ' ')
}
