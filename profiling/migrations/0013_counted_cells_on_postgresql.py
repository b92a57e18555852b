from django.db import migrations

CELL = "workload_id, device_model_id, state, emulated, flag_bits, device_id, upload_id"


def add_index(apps, schema_editor):
    """PostgreSQL keeps equal keys once: a million runs are 8 MB here, and counted from it without the table.

    SQLite does not, and would take it where run_browse is better.
    """
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"CREATE INDEX run_cells ON profiling_run ({CELL})")


def remove_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS run_cells")


class Migration(migrations.Migration):

    dependencies = [("profiling", "0012_hidden_uploads_and_fewer_indexes")]

    operations = [migrations.RunPython(add_index, remove_index)]
