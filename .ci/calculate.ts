/**
 * Does a fixed amount of what the parts do, and prints the CPU milliseconds that it took: it starts a process, loads modules,
 * compiles, allocates, and compares and copies text.
 */
import 'node:crypto'
import 'node:http'

const objects = Array.from({ length: 200 }, (_, index) => ({
  metadata: { name: `object-${index}`, labels: { app: 'keyplane', index: `${index}` } },
  spec: { values: Array.from({ length: 20 }, (_, value) => ({ value, text: `${value * index}` })) },
}))
let copies = objects
for (let round = 0; round < 4; round++) {
  copies = JSON.parse(JSON.stringify(copies)) as typeof objects
  copies.sort((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1))
}
const { user, system } = process.cpuUsage()
process.stdout.write(`${(user + system) / 1000}`)
