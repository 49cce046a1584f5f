import { expect, test } from 'vitest'
import { costOf, cut, holdingsOf, recordSide, Viewer, type Cut } from '../src/cut.ts'
import { createSchema, parse, type RuleRecord, type RuleRecords } from '../src/index.ts'
import { recordsOf, type World } from './answer.ts'

const relation = (name: string, to: string, maxSelect = 1) => ({ name, type: 'relation', collectionId: to, maxSelect })
const text = (name: string) => ({ name, type: 'text' })

const SCHEMA = createSchema([
  {
    name: 'users',
    type: 'auth',
    fields: [
      text('email'),
      text('team'),
      text('role'),
      { name: 'level', type: 'number' },
      { name: 'verified', type: 'bool' },
    ],
  },
  { name: 'orgs', fields: [relation('members', 'users', 99)] },
  {
    name: 'projects',
    fields: [relation('members', 'users', 99), relation('org', 'orgs'), { name: 'public', type: 'bool' }],
  },
  {
    name: 'tasks',
    fields: [
      text('status'),
      { ...text('title'), searchable: true },
      relation('owner', 'users'),
      relation('project', 'projects'),
      relation('projects', 'projects', 9),
      { name: 'tags', type: 'select', maxSelect: 9 },
      { name: 'level', type: 'number' },
      { name: 'expires', type: 'date' },
    ],
  },
  { name: 'shares', fields: [relation('task', 'tasks'), relation('user', 'users')] },
])
const NOW = new Date('2026-11-23T10:00:00Z')

function cutOf(rule: string, accounts: string | null = 'users'): Cut {
  return cut({ schema: SCHEMA, collection: 'tasks', rule: parse(rule), accounts })
}

test.each([
  ["status = 'open'", 'A', ''],
  ["@request.auth.verified = true && status = 'open'", 'A', ''],
  ['owner = @request.auth.id', 'A', 'owner is a value of the account'],
  ['tags ?= @request.auth.team', 'D', ''],
  ['tags:each ?= @request.auth.team', 'A', 'tags is a value of the account'],
  ['project.members.id ?= @request.auth.id', 'A', 'project is one of the ids of "projects"'],
  ['project.org.members.id ?= @request.auth.id', 'A', 'project is one of the ids of "projects"'],
  ['project.public = true', 'A', 'project is one of the ids of "projects"'],
  ['shares_via_task.user ?= @request.auth.id', 'A', 'id is in task of "shares"'],
  ['@collection.shares.user ?= @request.auth.id && @collection.shares.task ?= id', 'A', 'id is in task of "shares"'],
  [
    'project.members.id ?= @request.auth.id && owner != @request.auth.id',
    'B',
    'project is one of the ids of "projects"',
  ],
  ['projects.public ?= true && owner = @request.auth.id', 'B', 'owner is a value of the account'],
  ['level <= @request.auth.level', 'C', 'level <= a value of the account'],
  ['expires > @now', 'C', 'expires > the time'],
  ['owner != @request.auth.id', 'D', ''],
  ['level = @hour', 'D', ''],
])('%s is of class %s', (rule, cost, foundBy) => {
  const found = costOf(cutOf(rule))
  expect([found.cost, found.alternatives.map((each) => each.foundBy)]).toEqual([cost, [foundBy]])
})

test.each([
  ["@request.query.key = 'a'", 'It asks about one request.'],
  ["title = 'a' && @request.headers.x = 'y'", 'It asks about one request.'],
  ["search('a') && owner = @request.auth.id", 'It searches for words.'],
  ['project.org ?= title', 'It compares another record with a field of the record itself.'],
  ['project.members.id ?= owner.id && projects.org ?= project.org', 'It compares records that two fields lead to.'],
])('%s can not be cut', (rule, problem) => {
  const { problems } = cutOf(rule)
  expect(problems[0]?.message).toBe(problem)
  expect(problems[0]!.position).toBeGreaterThanOrEqual(0)
  expect(costOf(cutOf(rule)).cost).toBe('E')
})

test.each([
  ["status = 'open' && owner != @request.auth.id", 'owner'],
  ['project.members.id ?= @request.auth.id && owner != @request.auth.id || level = @hour', 'level'],
  ['owner = @request.auth.id && owner != @request.auth.role && level = @hour', 'level'],
  ['owner = @request.auth.id && owner != @request.auth.role', undefined],
])('%s is of class D where %s is, or of another class', (rule, field) => {
  const at = costOf(cutOf(rule)).alternatives.flatMap(({ position }) => (position === null ? [] : [position]))
  expect(at).toEqual(field === undefined ? [] : [rule.lastIndexOf(field)])
})

test('a rule of too many alternatives is not cut', () => {
  const either = (name: string) => `(${name} = 'a' || ${name} = 'b')`
  const { problems } = cutOf(Array.from({ length: 6 }, () => either('title')).join(' && '))
  expect(problems.map(({ message }) => message)).toEqual(['It has more than 32 alternatives.'])
})

test('accounts of several collections and guests share the sides of records', () => {
  const rule = 'owner = @request.auth.id || project.members.id ?= @request.auth.id'
  const keys = [cutOf(rule), cutOf(rule, null)].map(({ alternatives }) => alternatives.map(({ key }) => key))
  expect(keys[0]).toEqual(keys[1])
})

test('the side of a record changes with its own fields only', () => {
  const rule = cutOf("status = 'open' && project.members.id ?= @request.auth.id && owner != @request.auth.id")
  const [alternative] = rule.alternatives
  const task = { id: 't', status: 'open', project: 'p', owner: 'ann', title: 'x' }
  expect(recordSide(rule, alternative!, task)).toEqual({ grounds: ['p'], range: null, own: { owner: 'ann' } })
  expect(recordSide(rule, alternative!, { ...task, title: 'y' })).toEqual(recordSide(rule, alternative!, task))
  expect(recordSide(rule, alternative!, { ...task, status: 'shut' })).toBeUndefined()
})

/** 1,000 projects with 3 members each, of 1,000 users. */
function manyProjects(): World {
  const ids = (name: string): string[] => Array.from({ length: 1000 }, (_, index) => `${name}${index}`)
  return {
    users: ids('u').map((id) => ({ id })),
    orgs: [],
    tasks: [],
    shares: [],
    projects: ids('p').map((id, index) => ({ id, members: [0, 1, 2].map((next) => `u${(index + next) % 1000}`) })),
  }
}

test('holdings are looked up from the account: no collection is read as a whole', () => {
  const records = recordsOf(manyProjects())
  const read: string[] = []
  const counted: RuleRecords = {
    get: (collection, id) => (read.push(`get ${collection}`), records.get(collection, id)),
    via: (collection, field, id) => (read.push(`via ${collection}.${field}`), records.via(collection, field, id)),
    all: (collection) => (read.push(`all ${collection}`), records.all(collection)),
  }
  const rule = cutOf('project.members.id ?= @request.auth.id')
  const [holding] = holdingsOf(rule, { id: 'u5' }, counted, NOW)
  expect(holding?.grounds).toEqual(['p3', 'p4', 'p5'])
  expect(read.filter((each) => each.startsWith('all'))).toEqual([])
  expect(read.length).toBeLessThan(20)
})

test('a guest holds what is empty', () => {
  const rule = cutOf('owner = @request.auth.id', null)
  const holdings = holdingsOf(rule, null, recordsOf({}), NOW)
  const viewer = new Viewer(rule, holdings, NOW)
  const shows = (owner: string): boolean => viewer.shows({ id: 't', owner } as RuleRecord)
  expect([shows(''), shows('ann')]).toEqual([true, false])
})

test('a bound by the clock moves without new holdings', () => {
  const rule = cutOf('expires > @now')
  const holdings = holdingsOf(rule, { id: 'ann' }, recordsOf({}), NOW)
  const task = { id: 't', expires: '2026-11-23 11:00:00.000Z' }
  const shownAt = (hour: number): boolean =>
    new Viewer(rule, holdings, new Date(Date.UTC(2026, 10, 23, hour))).shows(task)
  expect([shownAt(10), shownAt(12)]).toEqual([true, false])
})
