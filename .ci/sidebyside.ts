/** Runs parts side by side: those that wait beside those that compute. */

interface Step {
  name: string
  after?: readonly string[]
}

/**
 * Runs all steps, in their order where cores are scarce. A step starts when those that it follows have ended, and its load, in
 * cores, fits beside that of the running ones. One step may always run, whatever its load. No step passes one that could start but
 * for its load: a large one would wait for all small ones, and run alone at the end.
 */
export async function runSideBySide<S extends Step>(
  steps: readonly S[],
  cores: number,
  loadOf: (step: S) => number,
  run: (step: S) => Promise<void>,
): Promise<void> {
  const waiting = [...steps]
  const running = new Map<S, Promise<void>>()
  const names = new Set(steps.map(({ name }) => name))
  const ended = new Set<string>()
  const isReady = (step: S) => (step.after ?? []).every((name) => ended.has(name) || !names.has(name))
  while (waiting.length + running.size > 0) {
    const load = [...running.keys()].reduce((sum, step) => sum + loadOf(step), 0)
    const step = waiting.find(isReady)
    if (step !== undefined && (load === 0 || load + loadOf(step) <= cores)) {
      waiting.splice(waiting.indexOf(step), 1)
      const end = () => {
        ended.add(step.name)
        running.delete(step)
      }
      running.set(step, run(step).finally(end))
    } else if (running.size > 0) {
      await Promise.race(running.values())
    } else {
      throw new Error(`each waits for another: ${waiting.map(({ name }) => name).join(', ')}`)
    }
  }
}
