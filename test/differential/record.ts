/**
 * Records answers of kube-apiserver: `node test/differential/record.ts FILE… SEED…`. It overwrites scenario files and
 * writes sequences of seeds to test/conformance/recorded. It needs KUBEBUILDER_ASSETS.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readScenario, type Scenario } from '../conformance/scenario.ts'
import { recordScenario } from './compare.ts'
import { generate } from './generator.ts'
import { startOracle } from './oracle.ts'

const folder = join(import.meta.dirname, '../conformance/recorded')

async function source(argument: string): Promise<{ path: string; scenario: Scenario }> {
  if (!/^\d+$/.test(argument)) return { path: argument, scenario: await readScenario(argument) }
  const scenario = generate(Number(argument))
  return { path: join(folder, `${scenario.file}.json`), scenario }
}

/** Prints one step per line, which is short and keeps diffs small. */
const formatScenario = ({ about, steps }: Scenario): string =>
  `{"about":${JSON.stringify(about)},"steps":[\n${steps.map((step) => JSON.stringify(step)).join(',\n')}\n]}\n`

const oracle = await startOracle(process.env.KUBEBUILDER_ASSETS ?? '')
try {
  for (const argument of process.argv.slice(2)) {
    const { path, scenario } = await source(argument)
    await writeFile(path, formatScenario(await recordScenario(scenario, oracle)))
    process.stdout.write(`recorded ${path}\n`)
  }
} finally {
  await oracle.stop()
}
