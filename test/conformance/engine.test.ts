/** Compares recorded answers of kube-apiserver with the engine alone, which serves kinds that have nothing to do with keys. */
import { strangerExceptions } from './exceptions.ts'
import { readScenarios } from './scenario.ts'
import { startStrangers, translated } from './strangers.ts'
import { conformanceSuite } from './suite.ts'

/** What the example of the engine lacks: the garbage collector, users, and the texts for paths that it does not serve. */
const lacking = /^(91|100|101|150|160)-/

conformanceSuite({
  title: 'the engine alone',
  scenarios: [...(await readScenarios('scenarios')), ...(await readScenarios('engine'))]
    .filter(({ file }) => !lacking.test(file))
    .map(translated),
  exceptions: strangerExceptions,
  start: () => startStrangers(),
})
