/** Spending of models by the job that caused it, the largest first. */

import type { Ledger, Spending } from "../api/types";

export type JobSpending = Pick<Spending, "calls" | "read" | "written" | "cost"> & { job: string };

export function spendingByJob(ledger: Ledger): JobSpending[] {
  const jobs = new Map<string, JobSpending>();
  for (const { job, calls = 0, read = 0, written = 0, cost = 0 } of ledger.spending) {
    const sum = jobs.get(job) ?? { job, calls: 0, read: 0, written: 0, cost: 0 };
    jobs.set(job, { job, calls: sum.calls + calls, read: sum.read + read, written: sum.written + written, cost: sum.cost + cost });
  }
  return [...jobs.values()].sort((a, b) => b.read + b.written - (a.read + a.written));
}
