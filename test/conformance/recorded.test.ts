/** Sequences that were found by comparing with a kube-apiserver (test/differential), whose garbage nobody collects. */
import { conformanceSuite } from './suite.ts'

await conformanceSuite({ folder: 'recorded', collectsGarbage: false })
