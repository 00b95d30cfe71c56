import { createMemoryClient, MemoryError } from "graph-memory-reconciler";

const { RECONCILER_URL = "http://127.0.0.1:8766", RECONCILER_TOKEN = "" } = process.env;
const memory = createMemoryClient({ baseUrl: RECONCILER_URL, token: RECONCILER_TOKEN });
const priya = memory.contact("crm", "priya");
try {
  for (const city of ["Pune", "Goa"]) {
    const decision = await priya.note(`Lives in ${city}.`, { attribute: "city", value: city });
    console.log(decision.answer);
  }
  console.log((await priya.recall("Where does she live?")).prompt);
  await priya.profile();
} catch (error) {
  if (!(error instanceof MemoryError)) throw error;
  console.log(error.status, error.message);
}
