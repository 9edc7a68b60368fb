/** Replays sequences that comparisons with kube-apiserver found (test/differential), without garbage collection. */
import { conformanceSuite } from './suite.ts'

await conformanceSuite({ folder: 'recorded', collectsGarbage: false })
