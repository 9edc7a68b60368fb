/** Checks what the runner gets: the committed bundles, and the description of the Action. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { buildAction } from '../../../clients/action/build.ts'
import { actionFolder } from './runner.ts'

const read = (path: string) => readFile(join(actionFolder, path), 'utf8')

interface Description {
  inputs: Record<string, { description: string; required: boolean; default?: string }>
  outputs: Record<string, { description: string }>
  runs: { using: string; main: string; post: string; 'post-if': string }
}
const description = load(await read('action.yml')) as Description
const files = (await readdir(join(actionFolder, 'src'), { recursive: true })).filter((name) => name.endsWith('.ts'))
const sources = (await Promise.all(files.map((name) => read(`src/${name}`)))).join('\n')
const namesIn = (pattern: RegExp) => [...new Set([...sources.matchAll(pattern)].map(([, name = '']) => name))].sort()

// threat: jobs-7
test('the committed bundles are those of the source: npm run build -w clients/action writes them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-bundle-'))
  await buildAction(folder)
  const names = await readdir(folder)
  expect(names.filter((name) => !/^shared-\w+\.js$/.test(name)).sort()).toEqual(['credential.js', 'main.js', 'post.js'])
  expect((await readdir(join(actionFolder, 'dist'))).sort()).toEqual(names.sort())
  for (const name of names) {
    const [built, committed] = await Promise.all([readFile(join(folder, name), 'utf8'), read(`dist/${name}`)])
    expect([name, committed === built]).toEqual([name, true])
    expect(
      [...built.matchAll(/\bfrom "([^"]+)"/g)].filter(([, from = '']) => !/^node:|^\.\/shared-/.test(from)),
    ).toEqual([])
  }
  await rm(folder, { recursive: true })
})

describe('action.yml', () => {
  test('names the inputs that the source reads, and no others', () =>
    expect(Object.keys(description.inputs).sort()).toEqual(namesIn(/\bread(?:Input)?\((?:env, )?'([a-z-]+)'\)/g)))

  test('names the outputs that the source sets, and no others', () =>
    expect(Object.keys(description.outputs).sort()).toEqual(namesIn(/\.setOutput\('([a-z-]+)'/g)))

  test('has the inputs and outputs of docs/ci.md', async () => {
    const page = await readFile(join(actionFolder, '../../docs/ci.md'), 'utf8')
    const namesBelow = (head: string) => {
      const [, table = ''] = new RegExp(`^\\| ${head} \\|.*\\n\\|---.*\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? []
      const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
      return cells.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name)).sort()
    }
    expect(namesBelow('input')).toEqual(Object.keys(description.inputs).sort())
    expect(namesBelow('output')).toEqual(Object.keys(description.outputs).sort())
  })

  test('describes each of them in a sentence', () => {
    const all = Object.values({ ...description.inputs, ...description.outputs })
    expect(all.filter(({ description: text }) => !/^[A-Z].{10,}/.test(text))).toEqual([])
  })

  test('runs the bundles on Node.js 24, and cleans up whatever the job did', () =>
    expect(description.runs).toEqual({
      using: 'node24',
      main: 'dist/main.js',
      post: 'dist/post.js',
      'post-if': 'always()',
    }))
})
