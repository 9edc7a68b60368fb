/** Reads src/platforms.yaml for the build. A job that names a file of examples/ gets its text from there, with marks for the values of a trust. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseYaml } from '../../lib/engine/meta/encoding/yaml.ts'
import type { JobTemplate, Platform } from './src/pages/trusts/platforms/platforms.ts'

interface Job extends Omit<JobTemplate, 'text'> {
  /** Or its parts. */
  text: string | readonly string[]
  example?: string
  /** Texts of the example, once the marks of its server and its client ID are there, with what replaces them. */
  marks?: Readonly<Record<string, string>>
}

/** The server of all examples, and the client IDs of their trusts. */
const SERVER = 'https://keys.example.com/prod/kubernetes/management'
const CLIENT_ID = /\b[\w-]+@[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g

/** Returns the platforms of the file. Throws if an example does not have a text that a mark replaces. */
export async function readPlatforms(file: string): Promise<Platform[]> {
  const platforms = (await parseYaml(await readFile(file, 'utf8'))).value as unknown as (Platform & { jobs: Job[] })[]
  return await Promise.all(platforms.map(async (one) => ({ ...one, jobs: await Promise.all(one.jobs.map(filled)) })))
}

async function filled({ example, marks = {}, ...job }: Job): Promise<JobTemplate> {
  if (example === undefined) return { ...job, text: [job.text].flat().join('') }
  const text = await readFile(join(import.meta.dirname, '../../examples', example), 'utf8')
  const general = text.replaceAll(SERVER, '{{url}}').replaceAll(CLIENT_ID, '{{credential}}')
  return {
    ...job,
    text: Object.entries(marks).reduce((before, [from, to]) => {
      if (!before.includes(from)) throw new Error(`examples/${example} does not have ${from}`)
      return before.replaceAll(from, to)
    }, general),
  }
}
