"""Pictures and pages. matplotlib is imported when a picture is drawn, as the import takes long."""
